import { randomUUID } from "node:crypto";
import { cents, createClient, type GiftcardClient } from "@giftcard-pay/client";
import pg from "pg";
import { type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.js";
import { dropDatabase } from "../../../test/support/postgres.js";
import type { TestService } from "../../../test/support/service.js";
import { attachService } from "../../../test/support/shared-service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import type { CartView } from "../src/index.js";
import {
  createEngine,
  createSealer,
  createSqlJournal,
  type Engine,
  type EngineOptions,
  postgresMigrations,
} from "../src/plugin.js";
import type { Charge, Journal } from "../src/store/index.js";

export const sealingKeys = [{ id: "test", key: Buffer.alloc(32, 7).toString("base64") }];

/** A shop with a real journal, and the real service behind a proxy that can fail. */
export interface Shop {
  readonly service: TestService;
  readonly proxy: FaultProxy;
  readonly journal: Journal;
  readonly pool: pg.Pool;
  /** The service's client, through the proxy. */
  readonly client: GiftcardClient;
  readonly apiKey: string;
  /** Makes an engine on the same journal, like another process. */
  engine(options?: Partial<EngineOptions>): Engine;
  /** Issues a card. Its function reads the balance without the proxy. */
  card(balanceCents: number): Promise<TestCard>;
  stop(): Promise<void>;
}

export interface TestCard {
  readonly cardNumber: string;
  readonly pin: string;
  balanceCents(): Promise<number>;
}

export async function startShop(): Promise<Shop> {
  const service = await attachService();
  const shopDatabase = await testDatabase();
  const { companyId, apiKey } = await service.createCompany();
  const proxy = await startFaultProxy(service.url);
  const pool = new pg.Pool({ connectionString: shopDatabase, max: 20 });
  for (const { journal } of postgresMigrations) await pool.query(journal);
  const journal = createSqlJournal(async (text, params) => (await pool.query(text, params)).rows);
  const clientOf = (baseUrl: string, timeoutMs = 1_500) => createClient({ baseUrl, apiKey, companyId, timeoutMs });
  // A busy machine may be slow, and this one only reads.
  const direct = clientOf(service.url, 30_000);
  return {
    service,
    proxy,
    journal,
    pool,
    client: clientOf(proxy.url),
    apiKey,
    engine: (options = {}) =>
      createEngine({
        issuer: clientOf(proxy.url),
        environment: "sandbox",
        journal,
        sealer: createSealer({ keys: sealingKeys }),
        ...options,
      }),
    async card(balanceCents) {
      const card = await service.issueCard({ balanceCents });
      return { ...card, balanceCents: async () => (await direct.balance(card)).balanceCents };
    },
    async stop() {
      await pool.end();
      await proxy.stop();
      await service.stop();
      // Thousands of runs for mutants share a server.
      await dropDatabase(shopDatabase);
    },
  };
}

export const newCart = (totalCents: number): CartView => ({
  id: `cart_${randomUUID()}`,
  totalCents: cents(totalCents),
  currency: "eur",
});

/** Begins a payment of a single charge. */
export async function beginOne(engine: Engine, ...payment: Parameters<Engine["begin"]>): Promise<Charge> {
  const [charge] = await engine.begin(...payment);
  if (!charge) throw new Error("nothing was begun");
  return charge;
}

/** Applies a card and begins to charge it, as a completion does. */
export async function beginCharge(
  engine: Engine,
  cart: CartView,
  card: TestCard,
  owner = "completion",
): Promise<Charge> {
  await engine.apply(cart, { cardNumber: card.cardNumber, pin: card.pin });
  const [part] = (await engine.plan(cart)).parts;
  if (!part) throw new Error("nothing is planned");
  return beginOne(engine, cart, part, `session_${randomUUID()}`, owner);
}

/** Makes all leases run out, and all next attempts due. */
export async function letLeasesRunOut(pool: pg.Pool): Promise<void> {
  await pool.query(
    "update giftcard_charge set lease_until = now() - interval '1 second', next_try_at = now() - interval '1 second'",
  );
}
