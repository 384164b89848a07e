import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runNode, startNode } from "../../../scripts/process.mjs";
import { readBlock } from "../../../test/support/page-blocks.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { createPostgresStore } from "../src/index.js";
import { callMounted } from "./mounted.js";
import { type Shop, sealingKeys, startShop } from "./shop.js";

const TIMEOUT_MS = 240_000;
const route = "app/giftcards/[...path]/route.ts";
const next = createRequire(import.meta.url).resolve("next/dist/bin/next");

/** The small shop around the route that the README shows. */
const files: Record<string, string> = {
  "package.json": JSON.stringify({ name: "next-shop", private: true }),
  "next.config.mjs": "export default { experimental: { cpus: 2 } };\n",
  "tsconfig.json": JSON.stringify({
    compilerOptions: { strict: true, module: "esnext", moduleResolution: "bundler", jsx: "react-jsx" },
  }),
  "shop.ts": `
import { type CartView, type Checkout, createCheckout, createPostgresStore } from "@giftcard-pay/checkout";
import { createClient } from "@giftcard-pay/client";
import pg from "pg";

export function makeCheckout(): Checkout {
  const { GIFTCARD_URL = "", GIFTCARD_API_KEY = "", GIFTCARD_COMPANY_ID, SEALING_KEY = "", DATABASE_URL } = process.env;
  return createCheckout({
    client: createClient({
      baseUrl: GIFTCARD_URL,
      apiKey: GIFTCARD_API_KEY,
      companyId: Number(GIFTCARD_COMPANY_ID),
    }),
    environment: "sandbox",
    store: createPostgresStore({ pool: new pg.Pool({ connectionString: DATABASE_URL! }) }),
    sealingKeys: [{ id: "test", key: SEALING_KEY }],
  });
}

export function cartOf(request: Request): CartView | null {
  const id = /\\bcart=([\\w-]+)/.exec(request.headers.get("cookie") ?? "")?.[1];
  return id ? { id, totalCents: 7498, currency: "eur" } : null;
}
`,
};

let shop: Shop;
let folder: string;
let settings: Record<string, string>;

beforeAll(async () => {
  shop = await startShop();
  const databaseUrl = await testDatabase();
  const pool = new pg.Pool({ connectionString: databaseUrl });
  await createPostgresStore({ pool }).migrate();
  await pool.end();
  const { companyId, apiKey } = await shop.service.createCompany();
  settings = {
    GIFTCARD_URL: shop.service.url,
    GIFTCARD_API_KEY: apiKey,
    GIFTCARD_COMPANY_ID: String(companyId),
    SEALING_KEY: String(sealingKeys[0]?.key),
    DATABASE_URL: databaseUrl,
  };
  // Beside the package's own folders: below node_modules Next.js compiles no TypeScript.
  const cache = path.resolve(import.meta.dirname, "../.cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(path.join(cache, "next-"));
  await mkdir(path.join(folder, path.dirname(route)), { recursive: true });
  const shown = await readBlock("packages/checkout/README.md", route);
  for (const [file, text] of Object.entries({ ...files, [route]: shown })) {
    await writeFile(path.join(folder, file), text);
  }
});
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
  await shop?.stop();
});

/** Runs `next` as a shop does, not in the mode of the tests, and without a call to another host. */
const program = (args: string[], env: Record<string, string>) => ({
  name: `next ${args[0]}`,
  args: [next, ...args],
  cwd: folder,
  env: { ...env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", NEXT_IGNORE_INCORRECT_LOCKFILE: "1" },
  signal: AbortSignal.timeout(TIMEOUT_MS / 2),
});

it("in a Next.js route handler, built and started, it answers as alone", {
  timeout: TIMEOUT_MS,
}, async () => {
  // Without the settings: they are for the server alone.
  await runNode(program(["build"], {}));
  const start = program(["start", "--port", "0", "--hostname", "127.0.0.1"], settings);
  const server = await startNode({ ...start, ready: /(http:\S+)[\s\S]*Ready/ });
  try {
    await callMounted(`${server.match[1]}/giftcards`, shop);
    expect(server.logs()).not.toContain("⨯");
  } finally {
    await server.stop();
  }
});
