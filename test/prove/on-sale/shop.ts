import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { createStorefront, type Storefront } from "../../../packages/medusa/test/support/storefront.js";
import { freePort } from "../../../scripts/lib/process.mjs";
import {
  addTables,
  createStoreDatabase,
  type MedusaStore,
  startMedusaStore,
  startMedusaWorker,
} from "../../../scripts/shops/medusa-store.mjs";
import { type Bank, openBank } from "../faults/medusa/bank.js";
import { type Market, readMarket } from "../faults/medusa/tenders.js";
import { type Closers, type GiftcardSide, openBooks, openGiftcardSide } from "../faults/service.js";

const appDir = fileURLToPath(new URL("../../../packages/medusa/test/store/", import.meta.url));

export const SHOW = "on-sale-night";
/** A second show, which some buyers want too. It has as many seats. */
export const MATINEE = "on-sale-matinee";
/** With 9 % VAT. The code TEN takes 10 % off, so that totals have fractions of a cent. */
const PRICE = 34.95;
/** Leases of a killed process have expired after this time. A process that lives may be slow for longer than that. */
export const LEASE_MS = 5000;

/** The place of Medusa's lock. */
export type Lock = "memory" | "postgres" | "redis";

export interface ShopOptions {
  readonly postgresUrl: string;
  readonly lock: Lock;
  /** The number of processes that pages call. */
  readonly processes: number;
  /** Whether a worker runs their jobs and subscribers beside them. */
  readonly hasWorker: boolean;
  readonly seats: number;
  /** Without this plugin, for comparison. */
  readonly isPlain: boolean;
  /** Whether processes will be killed. */
  readonly isHostile: boolean;
  readonly say: (text: string) => void;
}

/** A Medusa shop in several processes that sells a show with a limited number of seats. */
export interface OnSaleShop {
  readonly giftcards: GiftcardSide;
  readonly bank: Bank;
  readonly market: Market;
  readonly books: pg.Pool;
  /** The calls of a page to the process with this number. */
  storefront(index: number): Storefront;
  /** Kills a process, and starts it again as its supervisor would. */
  restart(index: number): Promise<void>;
  restartWorker(): Promise<void>;
  /** Stops a process for a while, as a machine without memory does. */
  freeze(index: number, ms: number): Promise<void>;
  logs(): string;
  close(): Promise<void>;
}

/** Starts the shop, with a service, a bank and a throwaway database of its own. */
export async function openShop(options: ShopOptions): Promise<OnSaleShop> {
  const { postgresUrl, lock, processes, hasWorker, seats, isPlain, isHostile, say } = options;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-on-sale-"));
  const closers: Closers = [() => fs.rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const giftcards = await openGiftcardSide(postgresUrl, folder, closers);
    const databaseUrl = await createStoreDatabase(postgresUrl);
    const bank = openBank(path.join(folder, "bank.jsonl"));
    const env: Record<string, string> = {
      TEST_GIFTCARD_OPTIONS: JSON.stringify({ timeoutMs: 4000, leaseMs: isHostile ? LEASE_MS : 30_000 }),
      TEST_BANK_BOOK: bank.file,
      ...(lock !== "memory" && { TEST_LOCK: lock }),
      ...(lock === "redis" && { TEST_REDIS_URL: await startRedis(folder, closers) }),
      ...(isPlain && { TEST_PLAIN: "yes" }),
    };
    if (lock === "postgres") await addTables({ databaseUrl, appDir, env });
    const { url: baseUrl } = giftcards.proxy;
    const { apiKey, companyId } = giftcards.company;
    const settings = { appDir, databaseUrl, giftcard: { baseUrl, apiKey, companyId } };
    const start = (port: number) =>
      startMedusaStore({ ...settings, port, env: { ...env, TEST_WORKER_MODE: hasWorker ? "server" : "shared" } });
    const startWorker = () => startMedusaWorker({ ...settings, env: { ...env, TEST_WORKER_MODE: "worker" } });
    const stores: MedusaStore[] = [];
    let logsOfTheDead = "";
    closers.push(() => Promise.all(stores.map((store) => store.kill())));
    for (let index = 0; index < processes; index++) {
      say(`starting Medusa ${index + 1} of ${processes}`);
      stores.push(await start(await freePort()));
    }
    let worker = hasWorker ? await startWorker() : undefined;
    closers.push(() => worker?.kill());
    const storeAt = (index: number) => stores[index % processes] as MedusaStore;
    const first = createStorefront(storeAt(0));
    await first.enableProviders();
    await sell(first, SHOW, seats);
    await sell(first, MATINEE, seats);
    return {
      ...{ giftcards, bank, close, market: await readMarket(first, SHOW), books: openBooks(databaseUrl, closers) },
      storefront: (index) => createStorefront(storeAt(index)),
      async restart(index) {
        const old = storeAt(index);
        await old.kill();
        logsOfTheDead += old.logs();
        stores[index % processes] = await start(Number(new URL(old.url).port));
      },
      async restartWorker() {
        await worker?.kill();
        logsOfTheDead += worker?.logs() ?? "";
        worker = await startWorker();
      },
      async freeze(index, ms) {
        const { pid } = storeAt(index);
        process.kill(pid, "SIGSTOP");
        await sleep(ms).finally(() => process.kill(pid, "SIGCONT"));
      },
      logs: () => [logsOfTheDead, ...stores.map((store) => store.logs()), worker?.logs() ?? ""].join("\n"),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates a show, with its seats in Medusa's managed inventory. */
async function sell(storefront: Storefront, show: string, seats: number): Promise<void> {
  const { ok } = storefront;
  const { stock_locations } = await ok("GET", "/admin/stock-locations");
  const prices = [{ currency_code: "eur", amount: PRICE }];
  const variant = { title: "One", options: { Kind: "One" }, sku: show, manage_inventory: true, prices };
  await storefront.createProduct(show, PRICE, { variants: [variant] });
  const { inventory_items } = await ok("GET", `/admin/inventory-items?sku=${show}`);
  const level = { location_id: stock_locations[0].id, stocked_quantity: seats };
  await ok("POST", `/admin/inventory-items/${inventory_items[0].id}/location-levels`, level);
}

/** Starts the installed Redis on a free port, without persistence. @returns its address */
async function startRedis(folder: string, closers: Closers): Promise<string> {
  const port = await freePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const redis = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  const failed = once(redis, "error").then(([error]) => {
    throw new Error(`redis-server can't be started (${error.code}). Debian: apt install redis-server`);
  });
  let output = "";
  const ready = new Promise<void>((resolve) => {
    redis.stdout.on("data", (chunk) => {
      output += chunk;
      if (/Ready to accept connections/.test(output)) resolve();
    });
  });
  await Promise.race([ready, failed]);
  failed.catch(() => {});
  closers.push(async () => {
    redis.kill();
    await once(redis, "exit");
  });
  return `redis://127.0.0.1:${port}`;
}
