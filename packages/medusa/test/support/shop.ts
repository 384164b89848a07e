import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import {
  addTables,
  createStoreDatabase,
  type MedusaStore,
  startMedusaStore,
} from "../../../../scripts/shops/medusa-store.mjs";
import { type FaultProxy, startFaultProxy } from "../../../../test/support/fault-proxy.js";
import { startGiftcardService, type TestCompany, type TestService } from "../../../../test/support/service.js";
import { testDatabase } from "../../../../test/support/test-database.js";
import { passTime } from "./pass-time.js";
import { type Card, createStorefront, type Storefront } from "./storefront.js";

const giftcardStore = fileURLToPath(new URL("../store/", import.meta.url));

/** A complete shop: the real service, a network that can fail, and Medusa with the plugin. */
export interface TestShop {
  readonly service: TestService;
  readonly company: TestCompany;
  readonly proxy: FaultProxy;
  readonly medusa: MedusaStore;
  /** Medusa's database. */
  readonly databaseUrl: string;
  readonly storefront: Storefront;
  /** Kills Medusa like a power cut; `restart` starts it again on the same database. */
  crash(): Promise<void>;
  /** @param changes plugin options to change from now on */
  restart(changes?: object): Promise<void>;
  /** Starts another Medusa on the same database, which stops together with the shop. */
  startPeer(): Promise<TestPeer>;
  /** Moves every timestamp in Medusa's database back by this much. */
  passTime(ms: number): Promise<void>;
  /** Reads the card's balance from the service itself. */
  balanceCents(card: Card): Promise<number>;
  stop(): Promise<void>;
}

/** Another process of the same shop. */
export interface TestPeer {
  readonly medusa: MedusaStore;
  readonly storefront: Storefront;
}

/** A shop that other files use too: a test can't stop it or change its options. */
export interface SharedShop extends Omit<TestShop, "crash" | "restart" | "stop"> {
  /** Returns a second process of the shop, which other files use too. */
  peer(): Promise<TestPeer>;
}

/** The shops of `sharedShop`. They end with the worker, which runs one file after another (`isolate: false`). */
const sharedShops = new Map<string, Promise<SharedShop>>();

/**
 * Returns the shop that all files of this worker share, as starting Medusa takes longer than many a file's tests. It has
 * the products, cards and orders of earlier files, but not their log. Recovery runs only if a test triggers it.
 */
export async function sharedShop(charges: "whole" | "by-line"): Promise<SharedShop> {
  async function start(): Promise<SharedShop> {
    const env = { TEST_RECOVER_BY_HAND: "yes", STORE_CORS: "https://shop.example" };
    // By line is the default.
    const shop = await startShop(env, { charges: charges === "by-line" ? null : charges });
    let peer: Promise<TestPeer> | undefined;
    return { ...shop, peer: () => (peer ??= shop.startPeer()) };
  }
  const starting = sharedShops.get(charges) ?? start();
  sharedShops.set(charges, starting);
  const shop = await starting;
  shop.proxy.clear();
  await shop.proxy.release();
  const { medusa } = shop;
  const past = medusa.logs().length;
  return { ...shop, medusa: { ...medusa, logs: () => medusa.logs().slice(past) } };
}

/**
 * @param env further settings of Medusa, such as `TEST_TAKE_HOOKS`
 * @param pluginOptions options of the store's plugin; null removes one. Unless a test chooses otherwise, cards in
 *   `../store` are captured by hand, so that the test decides when
 * @param ownStore another store than `../store`
 */
export async function startShop(
  env: Record<string, string> = {},
  pluginOptions: object | ((company: TestCompany, serviceUrl: string) => object) = {},
  ownStore?: string,
): Promise<TestShop> {
  const appDir = ownStore ?? giftcardStore;
  const service = await startGiftcardService({
    databaseUrl: await testDatabase(),
    environment: "sandbox",
  });
  const company = await service.createCompany();
  const proxy = await startFaultProxy(service.url);
  const databaseUrl = await createStoreDatabase(inject("postgresUrl"));
  if (env.TEST_LOCK) await addTables({ databaseUrl, appDir, env });
  let options = typeof pluginOptions === "function" ? pluginOptions(company, proxy.url) : pluginOptions;
  const defaults = { timeoutMs: 3000, ...(ownStore ? {} : { capture: "manual" }) };
  const peers: MedusaStore[] = [];
  const start = () =>
    startMedusaStore({
      appDir,
      databaseUrl,
      giftcard: { baseUrl: proxy.url, apiKey: company.apiKey, companyId: company.companyId },
      env: { TEST_GIFTCARD_OPTIONS: JSON.stringify({ ...defaults, ...options }), ...env },
    });
  const stopRest = async () => {
    await proxy.stop();
    await service.stop();
  };
  let medusa = await start().catch(async (error) => {
    await stopRest();
    throw error;
  });
  let storefront = createStorefront(medusa);
  await storefront.enableProviders();
  return {
    ...{ service, company, proxy, databaseUrl },
    get medusa() {
      return medusa;
    },
    get storefront() {
      return storefront;
    },
    crash: async () => void (await medusa.kill()),
    restart: async (changes = {}) => {
      options = { ...options, ...changes };
      medusa = await start();
      storefront = createStorefront(medusa);
    },
    startPeer: async () => {
      const peer = await start();
      peers.push(peer);
      return { medusa: peer, storefront: createStorefront(peer) };
    },
    passTime: (ms) => passTime(databaseUrl, ms),
    balanceCents: (card) => balanceCents(service.url, company, card),
    stop: async () => {
      await Promise.all([medusa, ...peers].map((process) => process.stop()));
      await stopRest();
    },
  };
}

async function balanceCents(
  url: string,
  { apiKey, companyId }: TestCompany,
  { cardNumber, pin }: Card,
): Promise<number> {
  const response = await fetch(`${url}/api/endpoint/v1/balance`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apikey: apiKey, company_id: companyId, cardnumber: cardNumber, pin }),
  });
  if (response.status !== 200) throw new Error(`balance answered ${response.status}`);
  return ((await response.json()) as { balance: number }).balance;
}
