// @module-tag long

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runNode, startNode } from "../../../scripts/lib/process.mjs";
import { readBlock, readBlocks } from "../../../test/support/page-blocks.js";
import { testDatabase } from "../../../test/support/test-database.js";
import type { CartSummary } from "../src/storefront.js";
import { callMounted, NAMED_ORIGIN } from "./mounted.js";
import { newCart, type Shop, sealingKeys, startShop } from "./shop.js";

const TIMEOUT_MS = 240_000;
const PAGE = "docs/shops/nextjs.md";
const next = createRequire(import.meta.url).resolve("next/dist/bin/next");

/** The files of `create-next-app`. */
const files: Record<string, string> = {
  "package.json": JSON.stringify({ name: "next-shop", private: true }),
  "next.config.mjs": "export default { cacheComponents: true, experimental: { cpus: 2 } };\n",
  "tsconfig.json": JSON.stringify({
    compilerOptions: { strict: true, module: "esnext", moduleResolution: "bundler", jsx: "react-jsx" },
  }),
};

let shop: Shop;
let folder: string;
let settings: Record<string, string>;
/** Replaces a program's first import. */
let firstLines: string;

beforeAll(async () => {
  shop = await startShop();
  const { companyId, apiKey } = await shop.service.createCompany();
  settings = {
    GIFTCARD_BASE_URL: shop.service.url,
    GIFTCARD_API_KEY: apiKey,
    GIFTCARD_COMPANY_ID: String(companyId),
    GIFTCARD_ENVIRONMENT: "sandbox",
    SEALING_KEY: String(sealingKeys[0]?.key),
    DATABASE_URL: await testDatabase(),
    SHOP_URL: NAMED_ORIGIN,
  };
  // Next to the package's own folders: Next.js doesn't compile TypeScript in node_modules.
  const cache = path.resolve(import.meta.dirname, "../.cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(path.join(cache, "next-"));
  const blocks = await readBlocks(PAGE);
  const shown = Object.fromEntries(blocks.flatMap(({ file, text }) => (file ? [[file, text]] : [])));
  for (const [file, text] of Object.entries({ ...files, ...shown })) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  const [install = "", start, first = "", ...others] = blocks
    .filter(({ file }) => !file)
    .map(({ text }) => text.trim());
  const [pg, types, copy = ""] = install.split("\n");
  expect([pg, types]).toEqual(["npm install pg", "npm install --save-dev @types/pg"]);
  expect([start, others]).toEqual(["npx next build\nnpx next start", []]);
  firstLines = first;
  // Links to it as npm would. A relative path has no space that the shell would take for the end of a word.
  const widget = path.relative(folder, path.resolve(import.meta.dirname, "../../widget"));
  await mkdir(path.join(folder, "public"));
  execFileSync("sh", ["-euc", copy.replace("node_modules/@giftcard-pay/widget", widget)], { cwd: folder });
});
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
  await shop?.stop();
});

/** Runs `next` as a shop does, not in test mode, and without calls to other hosts. */
const program = (args: string[], env: Record<string, string>) => ({
  name: `next ${args[0]}`,
  args: [next, ...args],
  cwd: folder,
  env: { ...env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", NEXT_IGNORE_INCORRECT_LOCKFILE: "1" },
  signal: AbortSignal.timeout(TIMEOUT_MS / 2),
});

/** Buys two tickets with a card of 75.00, by the page, its cookie and its form. */
async function buy(url: string): Promise<void> {
  const card = await shop.card(7500);
  expect(await (await fetch(url)).text()).toContain('<a href="/cart">Buy two tickets</a>');
  const begun = await fetch(`${url}/cart`, { redirect: "manual" });
  const cookie = String(begun.headers.get("set-cookie")?.split(";")[0]);
  const html = await (await fetch(url, { headers: { cookie } })).text();
  const cart = html.match(/<giftcard-pay endpoint="\/giftcards" cart="([^"]+)"/)?.[1];
  expect(`cart=${cart}`).toBe(cookie);
  const script = html.match(/src="(\/giftcard-pay[^"]+)"/)?.[1];
  expect(await (await fetch(`${url}${script}`)).text()).toContain("giftcard-pay");
  const { cardNumber, pin } = card;
  const applied = await fetch(`${url}/giftcards/carts/${cart}/cards`, {
    method: "POST",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify({ cardNumber, pin }),
  });
  const { plan, ...shown } = (await applied.json()) as CartSummary;
  expect(shown).toMatchObject({ coveredCents: 5000, remainderCents: 2498 });
  for (let time = 0; time < 2; time++) {
    const paid = await fetch(`${url}/orders`, {
      method: "POST",
      headers: { cookie },
      body: new URLSearchParams({ plan }),
    });
    expect(await paid.text()).toBe(`Order ${cart} is paid, 2498 by invoice.`);
  }
  expect(await card.balanceCents()).toBe(2500);
}

/** The programs of docs/shops/running.md, in this shop; each ends by itself. */
async function runPrograms(): Promise<void> {
  for (const file of ["watch.mjs", "recover.mjs"]) {
    const lines = (await readBlock("docs/shops/running.md", file)).split("\n");
    expect(lines[0]).toBe('import { checkout } from "./shop.mjs";');
    await writeFile(path.join(folder, file), [firstLines, ...lines.slice(1)].join("\n"));
    const signal = AbortSignal.timeout(TIMEOUT_MS / 8);
    const output = await runNode({ name: file, args: [file], cwd: folder, env: settings, signal });
    if (file === "watch.mjs") expect(JSON.parse(output)).toMatchObject({ charges: { committed: 2 } });
  }
}

it("names the tested release of Next.js", async () => {
  const { version } = createRequire(import.meta.url)("next/package.json");
  expect(await readFile(path.resolve(import.meta.dirname, "../../..", PAGE), "utf8")).toContain(`Next.js ${version}`);
});

it("works in Next.js, built and started as the guide says", {
  timeout: TIMEOUT_MS,
}, async () => {
  // Without the settings, which only the server needs.
  await runNode(program(["build"], {}));
  const start = program(["start", "--port", "0", "--hostname", "127.0.0.1"], settings);
  const server = await startNode({ ...start, ready: /(http:\S+)[\s\S]*Ready/ });
  try {
    const cart = { ...newCart(7498), id: randomUUID() };
    await callMounted(`${server.match[1]}/giftcards`, shop, { cart, cookie: `cart=${cart.id}` });
    await buy(String(server.match[1]));
    await runPrograms();
    expect(server.logs()).not.toContain("⨯");
  } finally {
    await server.stop();
  }
});
