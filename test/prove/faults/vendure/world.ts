import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type pg from "pg";
import { startBank } from "../../../../examples/vendure/bank.js";
import { newVendureSecrets, startVendureShop } from "../../../../scripts/shops/vendure-shop.mjs";
import { openAdmin } from "../../../../scripts/shops/vendure-shopper.mjs";
import { type FaultProxy, startFaultProxy } from "../../../support/fault-proxy.js";
import { createDatabase } from "../../../support/postgres.js";
import { type Closers, type GiftcardSide, openBooks, openGiftcardSide } from "../service.js";

type ShopProcess = Awaited<ReturnType<typeof startVendureShop>>;
type Bank = Awaited<ReturnType<typeof startBank>>;
type Admin = Awaited<ReturnType<typeof openAdmin>>;

const bankOperations: Readonly<Record<string, string>> = { PUT: "take", POST: "refund", DELETE: "close" };

/** The Vendure shop in two processes, and everything that it depends on, all real. */
export interface World {
  readonly giftcards: GiftcardSide;
  readonly bank: Bank;
  /** The network to the bank: `take`, `refund` and `close` are its calls. */
  readonly bankProxy: FaultProxy;
  /** The shop's own database, read past every network. */
  readonly books: pg.Pool;
  readonly databaseUrl: string;
  /** The processes, the first one of which may die. */
  urls(): readonly [string, string];
  /** Opens a session of an administrator, in the default channel or in another one. */
  admin(channel?: string): Promise<Admin>;
  /** The output of the running processes. */
  logs(): readonly string[];
  /** Removes all network faults and delivers the held calls. */
  calm(): Promise<void>;
  kill(): Promise<void>;
  /** Starts the first process if it isn't running. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Settings of a world's shop. */
export interface WorldSettings {
  /** Another server than the example's. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether a third process, a worker, runs the scheduled tasks. */
  readonly hasWorker?: boolean;
}

/** Starts a world on a PostgreSQL server. */
export async function openWorld(
  postgresUrl: string,
  { program, env: more, hasWorker = false }: WorldSettings = {},
): Promise<World> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-faults-"));
  const closers: Closers = [() => fs.rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const giftcards = await openGiftcardSide(postgresUrl, folder, closers);
    const bank = await startBank();
    closers.push(() => bank.stop());
    const bankProxy = await startFaultProxy(bank.url, ({ method = "" }) => bankOperations[method] ?? method);
    closers.push(() => bankProxy.stop());
    const databaseUrl = await createDatabase(postgresUrl);
    const books = openBooks(databaseUrl, closers);
    const { proxy, company } = giftcards;
    const service = { url: proxy.url, apiKey: company.apiKey, companyId: company.companyId };
    const secrets = newVendureSecrets();
    const hasty = { GIFTCARD_TIMEOUT_MS: "1500", LEASE_MS: "5000", GIFTCARD_SCHEDULE: "* * * * * *" };
    const start = (role?: Record<string, string>) =>
      startVendureShop({
        ...{ service, bankUrl: bankProxy.url, databaseUrl, secrets, ...(program && { program }) },
        env: { ...hasty, HAS_WORKER: String(hasWorker), ...more, ...role },
      });
    let first: ShopProcess | undefined = await start();
    closers.push(() => first?.stop());
    const second = await start();
    closers.push(() => second.stop());
    const worker = hasWorker ? await start({ WORKER: "true" }) : undefined;
    closers.push(() => worker?.stop());
    return {
      ...{ giftcards, bank, bankProxy, books, databaseUrl, close },
      logs: () => [first, second, worker].flatMap((one) => one?.logs() ?? []),
      urls: () => [first?.url ?? second.url, second.url],
      admin: (channel) => openAdmin(second.url, secrets.superadminPassword, undefined, channel ? { channel } : {}),
      async calm() {
        for (const one of [proxy, bankProxy]) {
          await one.listen(true);
          one.clear();
          await one.release();
        }
      },
      async kill() {
        await first?.kill();
        first = undefined;
      },
      async restore() {
        first ??= await start();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
