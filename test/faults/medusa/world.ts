import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { createStorefront, type Storefront } from "../../../packages/medusa/test/support/storefront.js";
import { createStoreDatabase, type MedusaStore, startMedusaStore } from "../../../scripts/medusa-store.mjs";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.js";
import type { TestCompany } from "../../support/service.js";
import { type Closers, type GiftcardSide, openBooks, openGiftcardSide } from "../service.js";
import { LEASE_MS, TIMEOUT_MS } from "../shop.js";
import { type Bank, openBank } from "./bank.js";
import { type Market, openMarket } from "./tenders.js";

const appDir = fileURLToPath(new URL("../../../packages/medusa/test/store/", import.meta.url));

/** The whole shop, all real: service, Medusa, two networks that can fail, a bank, and both databases to look into. */
export interface World {
  readonly giftcards: GiftcardSide;
  readonly database: DatabaseProxy;
  readonly bank: Bank;
  readonly storefront: Storefront;
  readonly market: Market;
  /** A second Medusa on the same database, by its own connections; started when it is first asked for. */
  secondStorefront(): Promise<Storefront>;
  /** Medusa's database, asked past the proxy. */
  readonly shopBooks: pg.Pool;
  kill(): Promise<void>;
  /** Starts whatever doesn't run any more. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a world on a PostgreSQL server. */
export async function openWorld(postgresUrl: string): Promise<World> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-faults-"));
  const closers: Closers = [() => fs.rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const giftcards = await openGiftcardSide(postgresUrl, folder, closers);
    const shopUrl = await createStoreDatabase(postgresUrl);
    const bank = openBank(path.join(folder, "bank.jsonl"));
    const processes = await startProcesses({ shopUrl, giftcards, bank }, closers);
    const shopBooks = openBooks(shopUrl, closers);
    await processes.storefront.enableProviders();
    const market = await openMarket(processes.storefront);
    // The processes' own properties are read anew each time: a killed one has a successor.
    return Object.assign(processes, { giftcards, bank, market, shopBooks, close });
  } catch (error) {
    await close();
    throw error;
  }
}

type Processes = Pick<World, "database" | "storefront" | "secondStorefront" | "kill" | "restore">;

/** Starts Medusa and the network to its database; each can die and come back. */
async function startProcesses(
  { shopUrl, giftcards, bank }: { shopUrl: string; giftcards: GiftcardSide; bank: Bank },
  closers: Closers,
): Promise<Processes> {
  const { proxy, company } = giftcards;
  const database = await startDatabaseProxy(shopUrl);
  closers.push(() => database.stop());
  const startMedusa = (databaseUrl = database.url) =>
    startShop({ databaseUrl, proxyUrl: proxy.url, company, bookFile: bank.file });
  let medusa: MedusaStore | undefined = await startMedusa();
  closers.push(() => medusa?.kill());
  let second: MedusaStore | undefined;
  closers.push(() => second?.kill());
  let storefront = createStorefront(medusa);
  return {
    database,
    get storefront() {
      return storefront;
    },
    async secondStorefront() {
      second ??= await startMedusa(shopUrl);
      return createStorefront(second);
    },
    async kill() {
      await medusa?.kill();
      medusa = undefined;
    },
    async restore() {
      await giftcards.restore();
      if (medusa) return;
      medusa = await startMedusa();
      storefront = createStorefront(medusa);
    },
  };
}

function startShop(settings: {
  databaseUrl: string;
  proxyUrl: string;
  company: TestCompany;
  bookFile: string;
}): Promise<MedusaStore> {
  const { databaseUrl, proxyUrl, company, bookFile } = settings;
  return startMedusaStore({
    ...{ appDir, databaseUrl },
    giftcard: { baseUrl: proxyUrl, apiKey: company.apiKey, companyId: company.companyId },
    env: {
      TEST_GIFTCARD_OPTIONS: JSON.stringify({ timeoutMs: TIMEOUT_MS, leaseMs: LEASE_MS }),
      TEST_BANK_BOOK: bookFile,
    },
  });
}
