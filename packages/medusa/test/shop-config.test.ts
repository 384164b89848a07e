import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { outsideEnv, runNpm } from "../../../scripts/packed/pack.mjs";
import { type SharedShop, sharedShop } from "./support/shop.js";

const root = path.resolve(import.meta.dirname, "../../..");
const program = path.join(root, "packages/medusa/bin/giftcard-medusa.js");
const key = (id: string) => ({ id, key: randomBytes(32).toString("base64") });

let shop: SharedShop;
let folder: string;
beforeAll(async () => {
  shop = await sharedShop("whole");
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-config-"));
  await write("package.json", "{}");
});
afterEach(() => rm(folder, { recursive: true }));

async function write(file: string, text: string): Promise<void> {
  const target = path.join(folder, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, text);
}

/** A configuration in JavaScript with this sealing key. */
const inJavaScript = (sealingKey: object) =>
  `module.exports = { plugins: [{ resolve: "@giftcard-pay/medusa", options: { sealingKeys: [${JSON.stringify(sealingKey)}] } }] };`;

/** Runs a command that opens the seals by the configuration's keys. The database's address is in the folder's .env. */
async function reseal(cwd = folder): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  await write(".env", `DATABASE_URL=${shop.databaseUrl}\n`);
  const running = promisify(execFile)(process.execPath, [program, "reseal", "--json", "--directory", folder], {
    cwd,
    env: outsideEnv(),
  });
  return running.then(
    ({ stdout, stderr }) => ({ exitCode: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ exitCode: code, stdout, stderr }),
  );
}

/** The shop's cards are sealed under another key, so a command that read this configuration asks for that key. */
const readAKey = { exitCode: 1, stdout: expect.stringContaining("sealed under keys that are not set: demo") };

describe("the commands read", () => {
  beforeAll(async () => {
    const cartId = await shop.storefront.createCart();
    await shop.storefront.apply(cartId, await shop.service.issueCard({ balanceCents: 100 }));
  });

  test("the source, although there is a build, and name the file", async () => {
    await write("medusa-config.js", inJavaScript(key("source")));
    await write(".medusa/server/medusa-config.js", "throw new Error('stale');");
    const ended = await reseal();
    expect(ended).toMatchObject(readAKey);
    const file = path.join(folder, "medusa-config.js");
    expect(ended.stderr).toContain(`configuration: ${file}, not the build in .medusa/server\n`);
  });

  test("the build, if there is no source", { tags: "long" }, async () => {
    await write(".medusa/server/medusa-config.js", inJavaScript(key("build")));
    const ended = await reseal();
    expect(ended).toMatchObject(readAKey);
    expect(ended.stderr).toContain(`configuration: ${path.join(folder, ".medusa/server/medusa-config.js")}\n`);
  });

  test("never an older build in place of a source that needs ts-node", { tags: "long" }, async () => {
    await write("medusa-config.ts", "export default {};");
    await write(".medusa/server/medusa-config.js", inJavaScript(key("stale")));
    const ended = await reseal();
    expect(ended).toMatchObject({ exitCode: 2, stdout: expect.stringContaining("ts-node isn't installed") });
  });

  test("no secret into a message, if the configuration throws", async () => {
    await write("medusa-config.js", "throw new TypeError('the key is s3cret');");
    const ended = await reseal();
    expect(ended).toMatchObject({ exitCode: 2, stdout: expect.stringContaining("can't be read (TypeError)") });
    expect(JSON.stringify(ended)).not.toContain("s3cret");
  });

  test("medusa-config.ts, unbuilt, as create-medusa-app writes it", { tags: "long", timeout: 180_000 }, async () => {
    await write(
      "package.json",
      JSON.stringify({
        name: "a-store",
        private: true,
        devDependencies: { "@swc/core": "^1.7.28", "ts-node": "^10.9.2", typescript: "^5.6.2" },
      }),
    );
    await runNpm(["install"], { cwd: folder });
    for (const scope of ["@medusajs", "@giftcard-pay"])
      await symlink(path.join(root, "node_modules", scope), path.join(folder, "node_modules", scope));
    await write(
      "tsconfig.json",
      `{
        "compilerOptions": {
          "target": "ES2021", "esModuleInterop": true, "module": "Node16", "moduleResolution": "Node16",
          "emitDecoratorMetadata": true, "experimentalDecorators": true, "skipLibCheck": true,
          "inlineSourceMap": true, "outDir": "./.medusa/server", "rootDir": "./", "strictNullChecks": true
        },
        "ts-node": { "swc": true },
        "include": ["**/*", ".medusa/types/*"],
      }`,
    );
    await write(
      "medusa-config.ts",
      `import { loadEnv, defineConfig } from '@medusajs/framework/utils'
      import { withGiftcard } from '@giftcard-pay/medusa/config'

      loadEnv(process.env.NODE_ENV || 'development', process.cwd())

      module.exports = withGiftcard(defineConfig({
        projectConfig: { databaseUrl: process.env.DATABASE_URL, http: { jwtSecret: process.env.JWT_SECRET } as any },
      }), {
        environment: 'sandbox',
        baseUrl: 'http://127.0.0.1:1',
        apiKey: 'none',
        companyId: 1,
        sealingKeys: [${JSON.stringify(key("typescript"))}],
      })`,
    );
    await write(".medusa/server/medusa-config.js", inJavaScript(key("stale")));
    // In the folder, and from elsewhere.
    for (const cwd of [folder, os.tmpdir()]) {
      const ended = await reseal(cwd);
      expect(ended).toMatchObject(readAKey);
      expect(ended.stderr).toContain(`configuration: ${path.join(folder, "medusa-config.ts")}, not the build`);
    }
  });
});
