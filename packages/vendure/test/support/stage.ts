import { createClient } from "@giftcard-pay/client";
import pg from "pg";
import { beforeAll, expect } from "vitest";
import { startBank } from "../../../../examples/vendure/bank.js";
import { newVendureSecrets, startVendureShop } from "../../../../scripts/shops/vendure-shop.mjs";
import { openAdmin, openShopper } from "../../../../scripts/shops/vendure-shopper.mjs";
import { type FaultProxy, startFaultProxy } from "../../../../test/support/fault-proxy.js";
import type { TestCard } from "../../../../test/support/service.js";
import { attachService } from "../../../../test/support/shared-service.js";
import { testDatabase } from "../../../../test/support/test-database.js";
import { bookedCents } from "../../../../test/support/vendure-books.js";

const PROGRAM = new URL("shop.mjs", import.meta.url).pathname;

/** Settings of a test's shop. */
export interface StageSettings {
  readonly env?: Record<string, string>;
  /** Whether a separate worker process runs the scheduled tasks. */
  readonly hasWorker?: boolean;
}

/** The cents that the cards and the bank hold for an order, and its state in Vendure. */
export interface Held {
  readonly state: string;
  readonly cards: number;
  readonly bank: number;
}

/** An order with the cards that were issued for it. */
interface StagedOrder {
  readonly code: string;
  readonly cards: readonly TestCard[];
  readonly issuedCents: number;
}

type Admin = Awaited<ReturnType<typeof openAdmin>>;

/** The stage of `useStage`. Its processes end with the worker, which runs one file after another (`isolate: false`). */
let shared: Promise<Stage> | undefined;

/** Returns a function that returns, in a test, the stage that the files share. It has the orders of earlier files. */
export function useStage(): () => Stage {
  let stage: Stage;
  beforeAll(async () => {
    shared ??= openStage({ env: { GIFTCARD_ADDRESS_HEADER: "x-forwarded-for" } });
    stage = await shared;
    stage.proxy.clear();
  });
  return () => stage;
}

/** Starts Vendure with the plugin, a bank and the real card service behind a network that can fail. */
export async function openStage({ env = {}, hasWorker = false }: StageSettings = {}) {
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  const service = await attachService();
  closers.push(() => service.stop());
  const company = await service.createCompany();
  const proxy: FaultProxy = await startFaultProxy(service.url);
  closers.push(() => proxy.stop());
  const bank = await startBank();
  closers.push(() => bank.stop());
  const [databaseUrl, secrets] = [await testDatabase(), newVendureSecrets()];
  const start = (more: Record<string, string> = {}) =>
    startVendureShop({
      service: { url: proxy.url, apiKey: company.apiKey, companyId: company.companyId },
      ...{ bankUrl: bank.url, databaseUrl, secrets, program: PROGRAM },
      env: {
        ...{ GIFTCARD_TIMEOUT_MS: "2000", LEASE_MS: "6000", GIFTCARD_SCHEDULE: "* * * * * *" },
        HAS_WORKER: String(hasWorker),
        ...env,
        ...more,
      },
    });
  let shop = await start().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  closers.push(() => shop.stop());
  if (hasWorker) {
    const worker = await start({ WORKER: "true" });
    closers.push(() => worker.stop());
  }
  let admin = await openAdmin(shop.url, secrets.superadminPassword);

  return {
    ...{ service, company, proxy, bank, secrets, databaseUrl, close, heldByCards, start },
    /** Returns what Vendure says that a method holds for an order. */
    bookedCents: async (code: string, method: string) => bookedCents((await admin.look(code)).payments, method),
    shop: () => shop,
    async killAndStart() {
      await shop.kill();
      shop = await start();
      admin = await openAdmin(shop.url, secrets.superadminPassword);
    },
    /** Locks Vendure's table of refunds, so that it can't write one. @returns a function that releases the lock */
    async lockRefunds() {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query("begin; lock table refund in share mode");
      return () => client.end();
    },
    /** Refunds an order's payment in the bank's own dashboard, so that the bank refuses later refunds. */
    async refundAtBank(orderId: string, amountCents: number) {
      const { payments } = await admin.call(`{ order(id: "${orderId}") { payments { method transactionId } } }`);
      const { transactionId } = payments.find(({ method }: { method: string }) => method === "bank");
      const body = JSON.stringify({ id: "by hand", amountCents });
      await fetch(`${bank.url}/payments/${transactionId}/refunds`, { method: "POST", body });
    },
    /** Returns when Vendure's scheduler has run the recovery last. */
    async lastRecovery() {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      const sql = `select "lastExecutedAt"::text as at from scheduled_task_record where "taskId" = 'giftcard-recovery'`;
      const { rows } = await client.query(sql);
      await client.end();
      return rows[0]?.at as string | undefined;
    },
    admin: (): Admin => admin,
    openAdmin: (who: Parameters<typeof openAdmin>[3], password = secrets.superadminPassword) =>
      openAdmin(shop.url, password, undefined, who),
    issueCard: (balanceCents: number): Promise<TestCard> => service.issueCard({ balanceCents }),
    shopper: (channel?: string) => openShopper(shop.url, undefined, undefined, channel),

    /** Two tickets of 37.49 with these cards applied. */
    async order(...balances: number[]) {
      const shopper = openShopper(shop.url);
      const { id, code } = await shopper.order();
      const cards: TestCard[] = [];
      for (const balanceCents of balances) {
        const card = await service.issueCard({ balanceCents });
        await shopper.apply(card);
        cards.push(card);
      }
      return { ...shopper, id, code, cards, issuedCents: balances.reduce((sum, cents) => sum + cents, 0) };
    },

    /** Waits until the cards, the bank and Vendure agree on these figures. */
    async expectHeld(order: StagedOrder, held: Held) {
      await expect
        .poll(async () => {
          const { state, payments } = await admin.look(order.code);
          return {
            ...{ state, cards: await heldByCards(order), bank: bank.heldCents(order.code) },
            booked: { cards: bookedCents(payments, "giftcard"), bank: bookedCents(payments, "bank") },
          };
        })
        .toEqual({ ...held, booked: { cards: held.cards, bank: held.bank } });
    },
    paymentOf: async (code: string, method: string) => {
      const payment = (await admin.look(code)).payments.find((one) => one.method === method);
      if (!payment) throw new Error(`the order has no payment by ${method}`);
      return payment;
    },
  };

  /** Returns the cents that are off an order's cards, by the service. */
  async function heldByCards({ cards, issuedCents }: Omit<StagedOrder, "code">): Promise<number> {
    const client = createClient({ baseUrl: service.url, apiKey: company.apiKey, companyId: company.companyId });
    const left = await Promise.all(
      cards.map(async ({ cardNumber, pin }) => (await client.balance({ cardNumber, pin })).balanceCents),
    );
    return left.reduce((held, cents) => held - cents, issuedCents);
  }
}

export type Stage = Awaited<ReturnType<typeof openStage>>;
