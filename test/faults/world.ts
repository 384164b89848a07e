import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cents } from "@giftcard-pay/client";
import { openKeyring, openPool } from "@giftcard-pay/service";
import type pg from "pg";
import { createStorefront, type Storefront } from "../../packages/medusa/test/support/storefront.js";
import { issueCards } from "../../packages/service/dist/store/cards.js";
import { createStoreDatabase, type MedusaStore, startMedusaStore } from "../../scripts/medusa-store.mjs";
import { type DatabaseProxy, startDatabaseProxy } from "../support/database-proxy.js";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.js";
import { createDatabase } from "../support/postgres.js";
import { startGiftcardService, type TestCompany, type TestService } from "../support/service.js";
import { type Bank, openBank } from "./bank.js";
import { type Market, openMarket } from "./tenders.js";

/** Long enough for a slow machine, short enough that a lost answer costs seconds. */
export const TIMEOUT_MS = 1500;
export const LEASE_MS = 2500;

const appDir = fileURLToPath(new URL("../../packages/medusa/test/store/", import.meta.url));

/** A card as its owner and its issuer know it. */
export interface IssuedCard {
  readonly id: number;
  readonly cardNumber: string;
  readonly pin: string;
  readonly issuedCents: number;
}

/** The whole shop, all real: service, Medusa, two networks that can fail, a bank, and both databases to look into. */
export interface World {
  readonly proxy: FaultProxy;
  readonly database: DatabaseProxy;
  readonly bank: Bank;
  readonly storefront: Storefront;
  readonly market: Market;
  /** A second Medusa on the same database, by its own connections; started when it is first asked for. */
  secondStorefront(): Promise<Storefront>;
  /** Medusa's database, asked past the proxy. */
  readonly shopBooks: pg.Pool;
  readonly serviceBooks: pg.Pool;
  issueCard(balanceCents: number): Promise<IssuedCard>;
  /** Runs the plugin's recovery now. @returns whether it answered */
  recover(): Promise<boolean>;
  killMedusa(): Promise<void>;
  killService(): Promise<void>;
  /** Starts whatever doesn't run any more. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a world on a PostgreSQL server. */
export async function openWorld(postgresUrl: string): Promise<World> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-faults-"));
  const closers: (() => unknown)[] = [() => fs.rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const secretsFile = path.join(folder, "secrets.json");
    const serviceUrl = await createDatabase(postgresUrl);
    const shopUrl = await createStoreDatabase(postgresUrl);
    const bank = openBank(path.join(folder, "bank.jsonl"));
    const processes = await startProcesses({ serviceUrl, shopUrl, secretsFile, bank }, closers);
    const pool = (url: string) => {
      const opened = openPool(url, () => {}, 2);
      closers.push(() => opened.end());
      return opened;
    };
    const [shopBooks, serviceBooks] = [pool(shopUrl), pool(serviceUrl)];
    const keyring = await openKeyring(secretsFile, serviceBooks);
    await processes.storefront.enableProviders();
    const market = await openMarket(processes.storefront);
    // The processes' own properties are read anew each time: a killed one has a successor.
    return Object.assign(processes, {
      ...{ bank, market, shopBooks, serviceBooks, close },
      issueCard: (balanceCents: number) => issueCard(serviceBooks, keyring, balanceCents),
      async recover() {
        const path = "/admin/giftcard-pay/recover";
        const answer = await processes.storefront.send("POST", path, {}).catch(() => undefined);
        return answer?.status === 200;
      },
    });
  } catch (error) {
    await close();
    throw error;
  }
}

type Processes = Pick<
  World,
  "proxy" | "database" | "storefront" | "secondStorefront" | "killMedusa" | "killService" | "restore"
>;

/** Starts the service, the networks and Medusa, each of which can die and come back. */
async function startProcesses(
  places: { serviceUrl: string; shopUrl: string; secretsFile: string; bank: Bank },
  closers: (() => unknown)[],
): Promise<Processes> {
  const { serviceUrl, shopUrl, secretsFile, bank } = places;
  const startService = () =>
    startGiftcardService({
      ...{ databaseUrl: serviceUrl, environment: "sandbox", secretsFile },
      args: ["--calls-per-minute", "0"],
    });
  let service: TestService | undefined = await startService();
  closers.push(() => service?.stop());
  const company = await service.createCompany();
  const proxy = await startFaultProxy(service.url);
  closers.push(() => proxy.stop());
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
    ...{ proxy, database },
    get storefront() {
      return storefront;
    },
    async secondStorefront() {
      second ??= await startMedusa(shopUrl);
      return createStorefront(second);
    },
    async killMedusa() {
      await medusa?.kill();
      medusa = undefined;
    },
    async killService() {
      await service?.kill();
      service = undefined;
    },
    async restore() {
      if (!service) {
        service = await startService();
        proxy.setTarget(service.url);
      }
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

async function issueCard(
  pool: pg.Pool,
  keyring: Parameters<typeof issueCards>[1],
  balanceCents: number,
): Promise<IssuedCard> {
  const order = { count: 1, balanceCents: cents(balanceCents), expiryDate: "2099-12-31", prefix: "6" };
  const [card] = await issueCards(pool, keyring, order);
  if (!card) throw new Error("No card was issued.");
  const { rows } = await pool.query("select max(id)::int as id from cards where last_four = $1", [
    card.cardNumber.reveal().slice(-4),
  ]);
  return {
    id: rows[0].id,
    cardNumber: card.cardNumber.reveal(),
    pin: card.pin.reveal(),
    issuedCents: balanceCents,
  };
}
