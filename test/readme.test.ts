import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { createClient } from "@giftcard-pay/client";
import { expect, it } from "vitest";
import { outsideEnv, published } from "../scripts/packed/pack.mjs";
import { runNode } from "../scripts/process.mjs";
import { present, root } from "../site/pages.mjs";
import { readBlocks } from "./support/page-blocks.js";
import { startGiftcardService } from "./support/service.js";
import { testDatabase } from "./support/test-database.js";

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

it("docs/from-source.md packs every package, under the file names that it gives pnpm", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-from-source-"));
  try {
    const [, , ...pack] = (await blockOf("docs/from-source.md", "sh")).split("\n");
    expect(pack.join("\n")).toMatch(/^npm pack .* \.\.\/giftcard-packages\n$/s);
    const script = pack.join("\n").replace("../giftcard-packages", folder);
    await promisify(execFile)("sh", ["-euc", script], { cwd: root, env: outsideEnv() });
    const files = await readdir(folder);
    expect(files).toHaveLength(published.length);
    const { pnpm } = JSON.parse(`{${await blockOf("docs/from-source.md", "json")}}`);
    for (const file of Object.values<string>(pnpm.overrides)) expect(files).toContain(path.basename(file));
  } finally {
    await rm(folder, { recursive: true });
  }
});
