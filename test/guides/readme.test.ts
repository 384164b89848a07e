import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runNode } from "../../scripts/lib/process.mjs";
import { outsideEnv, published, withPnpm } from "../../scripts/packed/pack.mjs";
import { present, root } from "../../site/pages.mjs";
import { readBlocks } from "../support/page-blocks.js";
import { startGiftcardService } from "../support/service.js";
import { testDatabase } from "../support/test-database.js";

/** Returns the only block of a page in this language. */
async function blockOf(page: string, language: string): Promise<string> {
  const [block, ...others] = (await readBlocks(page)).filter((candidate) => candidate.language === language);
  if (!block || others.length > 0) throw new Error(`${page} has no block in ${language}, or more than one.`);
  return block.text;
}

it("the README's purchase pays 50.00 of 74.98, then restores the card's balance", async () => {
  const service = await startGiftcardService({ databaseUrl: await testDatabase() });
  try {
    const { apiKey, companyId } = await service.createCompany();
    const card = await service.issueCard({ balanceCents: 7500 });
    let script = await blockOf("README.md", "js");
    for (const [placeholder, value] of Object.entries({
      "https://cards.example": service.url,
      "companyId: 7": `companyId: ${companyId}`,
      "6064990000001234567": card.cardNumber,
      "004711": card.pin,
    })) {
      expect(script).toContain(placeholder);
      script = script.replace(placeholder, value);
    }
    const program = { name: "The README's purchase", cwd: root, env: { GIFTCARD_API_KEY: apiKey } };
    const said = await runNode({ ...program, args: ["--input-type=module", "--eval", script] });
    expect(said).toBe("50.00 paid, 24.98 to go\n");
    const client = createClient({ baseUrl: service.url, apiKey, companyId });
    expect((await client.balance(card)).balanceCents).toBe(7500);
  } finally {
    await service.stop();
  }
});

it("the README's demo buys, cancels, and refunds one of two tickets", { tags: "long" }, async () => {
  expect(await blockOf("README.md", "sh")).toContain("npm run demo -- --buy");
  const said = await runNode({ name: "The demo", args: ["scripts/demo.mjs", "--buy"], cwd: root });
  expect(said).toContain("order 1 placed: total 74.98 = gift card 50.00 + 24.98");
  expect(said).toContain("order 1 canceled: card balance 25.00 -> 75.00");
  expect(said).toContain("one ticket returned: 15.00 to the card, 5.00 by the bank");
});

it("every npm script in the docs exists", async () => {
  const { scripts } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  const unknown: string[] = [];
  for (const page of present.filter((file) => !file.startsWith("examples/"))) {
    const text = await readFile(path.join(root, page), "utf8");
    for (const [, name = ""] of text.matchAll(/npm run ([\w-]+)/g))
      if (!Object.hasOwn(scripts, name)) unknown.push(`${page}: ${name}`);
  }
  expect(unknown).toEqual([]);
});

describe("docs/from-source.md", () => {
  const page = "docs/from-source.md";
  let parent: string;
  let [pack, byNpm, byPnpm]: string[] = [];
  beforeAll(async () => {
    [pack, byNpm, byPnpm] = (await readBlocks(page)).map(({ text }) => text);
    parent = await mkdtemp(path.join(os.tmpdir(), "giftcard-from-source-"));
    await mkdir(path.join(parent, "giftcard-packages"));
  });
  afterAll(() => rm(parent, { recursive: true }));

  const run = (script: string, cwd: string) =>
    promisify(execFile)("sh", ["-euc", script], { cwd, env: outsideEnv(), maxBuffer: 64 * 1024 * 1024 });

  async function write(file: string, value: object): Promise<void> {
    await mkdir(path.dirname(path.join(parent, file)), { recursive: true });
    await writeFile(path.join(parent, file), JSON.stringify(value));
  }

  const versionIn = async (folder: string, name: string): Promise<string> =>
    JSON.parse(await readFile(path.join(parent, folder, "node_modules", name, "package.json"), "utf8")).version;

  /** Medusa's packages are large, and npm has them. */
  const withoutPeers = "legacy-peer-deps=true\nauto-install-peers=false\n";

  it("packs every package", async () => {
    const [, , ...command] = (pack ?? "").split("\n");
    const script = command.join("\n").replaceAll("../giftcard-packages", path.join(parent, "giftcard-packages"));
    await run(script, root);
    expect(await readdir(path.join(parent, "giftcard-packages"))).toHaveLength(published.length);
  });

  it("installs the plugin by npm", { tags: "long", timeout: 120_000 }, async () => {
    await write("shop/package.json", { name: "shop", private: true });
    await writeFile(path.join(parent, "shop/.npmrc"), withoutPeers);
    await run(byNpm ?? "", path.join(parent, "shop"));
    const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
    for (const name of ["client", "checkout", "medusa"])
      expect(await versionIn("shop", `@giftcard-pay/${name}`)).toBe(version);
  });

  it("installs plugin and widget in a pnpm workspace", { tags: "long", timeout: 180_000 }, async () => {
    await write("workspace/package.json", { name: "workspace", private: true });
    for (const app of ["backend", "storefront"])
      await write(`workspace/apps/${app}/package.json`, { name: `@dtc/${app}`, private: true });
    await writeFile(path.join(parent, "workspace/pnpm-workspace.yaml"), 'packages:\n  - "apps/**"\n');
    await writeFile(path.join(parent, "workspace/.npmrc"), withoutPeers);
    await run(withPnpm(byPnpm ?? ""), path.join(parent, "workspace"));
    const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
    expect(await versionIn("workspace/apps/backend", "@giftcard-pay/medusa")).toBe(version);
    expect(await versionIn("workspace/apps/storefront", "@giftcard-pay/widget")).toBe(version);
    expect(await versionIn("workspace/apps/storefront", "@lit/react")).toMatch(/^\d/);
  });
});
