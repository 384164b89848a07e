import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { freePort } from "../../../../scripts/lib/process.mjs";
import { newShopSecrets, startBank, startShop } from "../../../../scripts/shops/plain-shop.mjs";
import { type DatabaseProxy, startDatabaseProxy } from "../../../support/database-proxy.js";
import { type FaultProxy, startFaultProxy } from "../../../support/fault-proxy.js";
import { createDatabase } from "../../../support/postgres.js";
import { type Closers, type GiftcardSide, openBooks, openGiftcardSide } from "../service.js";
import { LEASE_MS, TIMEOUT_MS } from "../shop.js";
import { type BankOperation, bankOperations } from "./cells.js";
import { type CheckoutBooks, openPostgresBooks, openSqliteBooks } from "./checkout-books.js";

const program = path.join(import.meta.dirname, "serve.mjs");

type ShopProcess = Awaited<ReturnType<typeof startShop>>;
export type Store = "sqlite" | "postgresql";
/** How a card's part is charged. */
export type Charging = "whole" | "by-line";

/** The pretend bank, a network to it that can fail, and its book. */
export interface BankSide {
  readonly proxy: FaultProxy;
  readonly book: DatabaseSync;
  kill(): Promise<void>;
  restore(): Promise<void>;
}

/** The plain shop in up to two processes, all real, and everything that it needs. */
export interface World {
  readonly giftcards: GiftcardSide;
  readonly bank: BankSide;
  /** Only to PostgreSQL there is a network. */
  readonly database: DatabaseProxy | null;
  /** The checkout's records, read past every network. */
  readonly checkoutBooks: CheckoutBooks;
  /** The shop's own file. */
  readonly orders: DatabaseSync;
  readonly operator: { readonly authorization: string };
  /** The shop that answers: the first, or the second while the first is dead. */
  readonly url: string;
  /** A second process on the same books; started when it is first asked for. */
  second(): Promise<string>;
  kill(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a world; the service's books are on a PostgreSQL server whatever the shop's store is. */
export async function openWorld(store: Store, charges: Charging, postgresUrl: string): Promise<World> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-faults-"));
  const closers: Closers = [() => fs.rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const giftcards = await openGiftcardSide(postgresUrl, folder, closers);
    const bank = await openBank(folder, closers);
    const storeUrl = store === "postgresql" ? await createDatabase(postgresUrl) : null;
    const database = storeUrl ? await startDatabaseProxy(storeUrl) : null;
    closers.push(() => database?.stop());
    const processes = await startProcesses({ folder, giftcards, bank, charges, storeUrl, database }, closers);
    const orders = openFile(path.join(folder, "shop.db"), closers);
    const checkoutBooks = storeUrl ? openPostgresBooks(openBooks(storeUrl, closers)) : openSqliteBooks(orders);
    return Object.assign(processes, { giftcards, bank, database, orders, checkoutBooks, close });
  } catch (error) {
    await close();
    throw error;
  }
}

function openFile(file: string, closers: Closers): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec("pragma busy_timeout = 5000");
  closers.push(() => database.close());
  return database;
}

const key = "bank-key";

async function openBank(folder: string, closers: Closers): Promise<BankSide> {
  const file = path.join(folder, "bank.db");
  // The addresses that shoppers have stay good when it is started again.
  const port = await freePort();
  const start = () => startBank({ file, key, port });
  let bank: Awaited<ReturnType<typeof start>> | undefined = await start();
  closers.push(() => bank?.stop());
  const operationOf = ({ method = "" }): BankOperation => bankOperations[method] ?? "status";
  const proxy = await startFaultProxy(bank.url, operationOf);
  closers.push(() => proxy.stop());
  return {
    proxy,
    book: openFile(file, closers),
    async kill() {
      await bank?.kill();
      bank = undefined;
    },
    async restore() {
      bank ??= await start();
    },
  };
}

type Processes = Pick<World, "url" | "second" | "kill" | "restore" | "operator">;

async function startProcesses(
  world: {
    folder: string;
    giftcards: GiftcardSide;
    bank: BankSide;
    charges: Charging;
    storeUrl: string | null;
    database: DatabaseProxy | null;
  },
  closers: Closers,
): Promise<Processes> {
  const { folder, giftcards, bank, charges, storeUrl, database } = world;
  const { apiKey, companyId } = giftcards.company;
  const secrets = newShopSecrets();
  const start = (port: number, url: string | null | undefined) =>
    startShop({
      ...{ program, folder, secrets, port },
      service: { url: giftcards.proxy.url, apiKey, companyId },
      bank: { url: bank.proxy.url, key },
      env: {
        ...{
          LEASE_MS: String(LEASE_MS),
          GIFTCARD_TIMEOUT_MS: String(TIMEOUT_MS),
          BANK_TIMEOUT_MS: String(TIMEOUT_MS),
        },
        GIFTCARD_CHARGES: charges,
        // Recovery runs when a cell asks for it.
        RECOVER_EVERY_MS: "100000000",
        ...(url ? { STORE_URL: url } : {}),
      },
    });
  const port = await freePort();
  let first: ShopProcess | undefined = await start(port, database?.url);
  closers.push(() => first?.kill());
  let second: ShopProcess | undefined;
  closers.push(() => second?.kill());
  const basic = Buffer.from(`operator:${secrets.operatorPassword}`).toString("base64");
  return {
    operator: { authorization: `Basic ${basic}` },
    get url() {
      const { url } = first ?? second ?? {};
      if (!url) throw new Error("no shop runs");
      return url;
    },
    async second() {
      second ??= await start(0, storeUrl);
      return second.url;
    },
    async kill() {
      await first?.kill();
      first = undefined;
    },
    async restore() {
      await Promise.all([giftcards.restore(), bank.restore()]);
      first ??= await start(port, database?.url);
    },
  };
}
