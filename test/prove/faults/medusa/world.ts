import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { createStorefront, type Storefront } from "../../../../packages/medusa/test/support/storefront.js";
import {
  addTables,
  createStoreDatabase,
  type MedusaStore,
  startMedusaStore,
} from "../../../../scripts/shops/medusa-store.mjs";
import { type DatabaseProxy, startDatabaseProxy } from "../../../support/database-proxy.js";
import type { TestCompany } from "../../../support/service.js";
import { type Closers, type GiftcardSide, openBooks, openGiftcardSide } from "../service.js";
import { type Bank, openBank } from "./bank.js";
import { type Market, openMarket } from "./tenders.js";

const appDir = fileURLToPath(new URL("../../../../packages/medusa/test/store/", import.meta.url));

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
  /** The logs of the Medusas so far: those that were killed, the first, the second. */
  logs(): readonly string[];
  kill(): Promise<void>;
  /** Starts whatever doesn't run any more. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Options of the plugin: how long it waits for the service, how long a completion owns its charges, and others. */
export interface PluginOptions {
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly charges?: "whole" | "by-line";
  readonly allowPromisedRemainder?: boolean;
  readonly promisedRemainderMs?: number;
  readonly capture?: "manual";
}

/**
 * Starts a world on a PostgreSQL server.
 * @param how `sharesLock`: Medusa's own lock is one for all processes; `recoversOften`: each second
 */
export async function openWorld(
  postgresUrl: string,
  options: PluginOptions,
  { sharesLock = false, recoversOften = false } = {},
): Promise<World> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-faults-"));
  const closers: Closers = [() => fs.rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const giftcards = await openGiftcardSide(postgresUrl, folder, closers);
    const shopUrl = await createStoreDatabase(postgresUrl);
    const env: Record<string, string> = {
      ...(sharesLock && { TEST_LOCK: "postgres" }),
      ...(recoversOften && { TEST_RECOVER_OFTEN: "yes" }),
    };
    if (sharesLock) await addTables({ databaseUrl: shopUrl, appDir, env });
    const bank = openBank(path.join(folder, "bank.jsonl"));
    const processes = await startProcesses({ shopUrl, giftcards, bank, options, env }, closers);
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

type Processes = Pick<World, "database" | "storefront" | "secondStorefront" | "logs" | "kill" | "restore">;

/** Starts Medusa and the network to its database; each can die and come back. */
async function startProcesses(
  settings: { shopUrl: string; giftcards: GiftcardSide; bank: Bank } & Pick<ShopSettings, "options" | "env">,
  closers: Closers,
): Promise<Processes> {
  const { shopUrl, giftcards, bank, options, env } = settings;
  const { proxy, company } = giftcards;
  const database = await startDatabaseProxy(shopUrl);
  closers.push(() => database.stop());
  const startMedusa = (databaseUrl = database.url) =>
    startShop({ databaseUrl, proxyUrl: proxy.url, company, bookFile: bank.file, options, env });
  let medusa: MedusaStore | undefined = await startMedusa();
  closers.push(() => medusa?.kill());
  let second: MedusaStore | undefined;
  let logsOfTheDead = "";
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
    logs: () => [logsOfTheDead, medusa?.logs() ?? "", second?.logs() ?? ""],
    async kill() {
      await medusa?.kill();
      logsOfTheDead += medusa?.logs() ?? "";
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

interface ShopSettings {
  readonly databaseUrl: string;
  readonly proxyUrl: string;
  readonly company: TestCompany;
  readonly bookFile: string;
  readonly options: PluginOptions;
  readonly env: Readonly<Record<string, string>>;
}

function startShop(settings: ShopSettings): Promise<MedusaStore> {
  const { databaseUrl, proxyUrl, company, bookFile, options, env } = settings;
  return startMedusaStore({
    ...{ appDir, databaseUrl },
    giftcard: { baseUrl: proxyUrl, apiKey: company.apiKey, companyId: company.companyId },
    env: {
      TEST_GIFTCARD_OPTIONS: JSON.stringify(options),
      TEST_BANK_BOOK: bookFile,
      ...env,
    },
  });
}
