import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { runWith } from "./support/command-line.js";
import { type SharedShop, sharedShop } from "./support/shop.js";

let shop: SharedShop;
let folder: string;
beforeAll(async () => {
  shop = await sharedShop("whole");
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-doctor-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Examines a folder with this configuration of Medusa and of the plugin. */
async function examine(
  plugin: Record<string, unknown> | null,
  { databaseUrl = shop.databaseUrl, modules = {} }: { databaseUrl?: string; modules?: object } = {},
) {
  const plugins = plugin ? [{ resolve: "@giftcard-pay/medusa", options: plugin }] : [];
  const config = { projectConfig: { databaseUrl }, modules, plugins };
  await writeFile(path.join(folder, "medusa-config.js"), `module.exports = ${JSON.stringify(config)};`);
  const { exitCode, stdout } = await runWith({ DATABASE_URL: "" }, "doctor", "--json", "--directory", folder);
  const { isReady, findings } = JSON.parse(stdout.split("\n")[0] ?? "");
  expect(exitCode).toBe(isReady ? 0 : 1);
  return new Map<string, string>(
    findings.map(({ about, state, text }: Record<string, string>) => [about, `${state} ${text}`]),
  );
}

const configured = () => ({
  environment: "sandbox",
  baseUrl: shop.service.url,
  apiKey: shop.company.apiKey,
  companyId: shop.company.companyId,
  sealingKeys: [{ id: "2026", key: Buffer.alloc(32, 1).toString("base64") }],
});

describe("the doctor", () => {
  test("finds nothing to fix in a shop that works, and names what it can't see", async () => {
    const found = await examine(configured());
    expect(Object.fromEntries(found)).toMatchObject({
      options: `ok company ${shop.company.companyId}, sandbox`,
      "card issuer": `ok ${shop.service.url} answers, and accepts the key`,
      database: expect.stringMatching(/^ok /),
      regions: expect.stringMatching(/^ok .+ take gift cards$/),
      webhook: expect.stringMatching(/^look .*\/hooks\/payment\/bank_bank/),
      lock: expect.stringMatching(/^look .*locking-postgres/),
      proxy: expect.stringMatching(/^look .*addressHeader/),
    });
  });

  test("says what is wrong with the key, the address, an option, and never its value", async () => {
    const wrongKey = await examine({ ...configured(), apiKey: "a-secret-of-the-shop" });
    expect(wrongKey.get("card issuer")).toMatch(/^fix .*Compare baseUrl, apiKey and companyId/);
    const down = await examine({ ...configured(), baseUrl: "http://127.0.0.1:9" });
    expect(down.get("card issuer")).toMatch(/^fix /);
    const wrong = await examine({ ...configured(), sealingKeys: [{ id: "2026", key: "c2hvcnQ=" }], maxCards: 50 });
    expect(wrong.get("options")).toMatch(/^fix .*maxCards: /);
    for (const found of [wrongKey, down, wrong])
      expect([...found.values()].join()).not.toMatch(/a-secret-of-the-shop|c2hvcnQ=/);
  });

  test("says what a shop without gift cards, tables or a database has to do", async () => {
    expect((await examine(null)).get("configuration")).toMatch(/^fix it has no gift cards.*withGiftcard/);
    const empty = await examine(configured(), { databaseUrl: await testDatabase() });
    expect(empty.get("database")).toMatch(/^fix .*npx medusa db:migrate/);
    const databaseUrl = "postgres://shop:a-secret-of-the-shop@127.0.0.1:9/shop";
    const down = await examine(configured(), { databaseUrl });
    expect(down.get("database")).toBe("fix The database can't be reached (ECONNREFUSED).");
    const providers = [{ resolve: "@medusajs/medusa/locking-postgres", id: "postgres", is_default: true }];
    const locked = await examine(configured(), { modules: { locking: { options: { providers } } } });
    expect(locked.get("lock")).toBe("ok locking-postgres");
  });
});
