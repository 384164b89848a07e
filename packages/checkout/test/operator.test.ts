import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { cents, createClient } from "@giftcard-pay/client";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { type Checkout, createCheckout, createPostgresStore } from "../src/index.js";
import { dayOf, type PaymentQuery, type ShopPayment } from "../src/operator/index.js";
import type { RemainderAnswer } from "../src/remainder.js";
import type { CheckoutStore } from "../src/store/index.js";
import { createSqliteStore } from "../src/store/sqlite/store.js";
import { newCart, type Shop, sealingKeys, startShop, type TestCard } from "./shop.js";

const LEASE_MS = 1000;
const DAY_MS = 24 * 60 * 60_000;
/** A day more on either side, should it be midnight. */
const days = { from: dayOf(new Date(Date.now() - DAY_MS)), to: dayOf(new Date(Date.now() + DAY_MS)) };

/** A store, with direct access to its tables. */
interface TestStore extends CheckoutStore {
  /** Runs plain SQL. */
  sql(text: string): Promise<void>;
  /** A table expression of the numbers `n` from 1. */
  numbers(count: number): string;
  /** A time as the tables store it. */
  moment(at: Date): string;
  close(): Promise<void> | void;
}

async function openPostgres(): Promise<TestStore> {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 10 });
  const store = createPostgresStore({ pool });
  await store.migrate();
  return {
    ...store,
    sql: async (text) => void (await pool.query(text)),
    numbers: (count) => `generate_series(1, ${count}) n`,
    moment: (at) => `timestamptz '${at.toISOString()}'`,
    close: () => pool.end(),
  };
}

async function openSqlite(): Promise<TestStore> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-operator-"));
  const file = path.join(folder, "shop.db");
  const store = await createSqliteStore({ file });
  const tables = new DatabaseSync(file);
  return {
    ...store,
    sql: async (text) => tables.exec(text),
    numbers: (count) =>
      `(with recursive counted(n) as (select 1 union all select n + 1 from counted where n < ${count}) select n from counted)`,
    moment: (at) => String(at.getTime()),
    close: () => {
      tables.close();
      store.close();
      fs.rmSync(folder, { recursive: true });
    },
  };
}

for (const [name, open] of Object.entries({ PostgreSQL: openPostgres, SQLite: openSqlite })) {
  describe(`the operator's calls on ${name}`, () => {
    let shop: Shop;
    let store: TestStore;
    /** The shop's own records of orders that were reported as paid. */
    let orders: Map<string, ShopPayment>;
    let bank: RemainderAnswer["status"];
    beforeAll(async () => {
      [shop, store] = [await startShop(), await open()];
    });
    beforeEach(async () => {
      shop.proxy.clear();
      shop.proxy.withoutExtension(false);
      bank = "authorized";
      orders = new Map();
      // Each test has its own records.
      for (const table of ["action", "charge", "tender", "purchase", "secret"])
        await store.sql(`delete from giftcard_${table}`);
    });
    afterAll(async () => {
      await store.close();
      await shop.stop();
    });

    const checkout = (client = shop.client, keys = sealingKeys): Checkout =>
      createCheckout({
        ...{ issuer: client, environment: "sandbox", store, sealingKeys: keys },
        ...{ leaseMs: LEASE_MS, pendingRemainderMs: LEASE_MS },
        remainder: {
          authorize: async () => ({ status: bank }),
          status: async () => ({ status: bank }),
          cancel: async () => {},
        },
      });

    /** Pays 74.98, 50.00 of it by card, and adds the order to the shop's records. */
    async function buy(card?: TestCard, by = checkout()): Promise<string> {
      const cart = newCart(7498);
      const { plan } = await by.apply(cart, card ?? (await shop.card(7500)));
      const id = `order_${randomUUID()}`;
      const { status, cards } = await by.pay({ id, cart, plan });
      const amountCents = cards.reduce((sum, part) => sum + part.amountCents, 0);
      if (status === "paid") orders.set(id, { orderId: id, amountCents });
      return id;
    }

    async function cancel(orderId: string): Promise<void> {
      await checkout().cancel(orderId);
      write(orderId, { isCanceled: true });
    }

    /** Changes one of the shop's records. */
    function write(orderId: string, change: Partial<ShopPayment>): void {
      orders.set(orderId, { ...(orders.get(orderId) as ShopPayment), ...change });
    }

    /** Makes a charge whose outcome a service without the extension can't resolve. It took money. */
    async function leaveToPerson(): Promise<string> {
      shop.proxy.withoutExtension(true);
      shop.proxy.set("devalue", "cut-after", 1);
      await expect(buy()).rejects.toMatchObject({ code: "outcome_unknown" });
      shop.proxy.withoutExtension(false);
      const [charge] = (await checkout().operator.charges({ states: ["needs_attention"] })).charges;
      return String(charge?.reference);
    }

    const payments = async () => [...orders.values()];
    const reconcile = (more: object = {}) => checkout().operator.reconcile({ ...days, payments, ...more });
    const report = async () => {
      const printed = await shop.service.command("report", "--from", days.from, "--to", days.to);
      return JSON.stringify(printed);
    };

    it("finds no difference after all kinds of purchases, and the statement has the same sums", async () => {
      await buy();
      await cancel(await buy());
      const refunded = await buy();
      await checkout().refundCards(refunded);
      write(refunded, { refundedCents: 5000 });
      bank = "declined";
      await buy();
      expect(await reconcile()).toEqual({
        ...{ ...days, charges: 4, payments: 3, cards: null, moving: 0, differences: [] },
      });
      expect(await checkout().operator.reconcile({ ...days, payments: orders.values() })).toMatchObject({
        differences: [],
      });
      expect(await checkout().operator.statement(days)).toMatchObject({
        ...{ chargedCents: 20_000, canceledCents: 10_000, refundedCents: 5000, grossCents: 5000 },
      });
    });

    it("finds each difference with both sides", async () => {
      const [lost, final, refunded, owed] = [await buy(), await buy(), await buy(), await buy()];
      await cancel(await buy());
      const charges = (await checkout().operator.charges({ orderIds: [lost] })).charges;
      orders.delete(lost);
      write(final, { id: "payment 7", capturedCents: 5000 });
      write(refunded, { refundedCents: 2500 });
      shop.proxy.set("canceldevalue", "cut-before");
      await cancel(owed);
      shop.proxy.clear();
      orders.set("order_none", { orderId: "order_none", amountCents: 1200 });
      const undecided = await leaveToPerson();

      const { differences, moving } = await reconcile();
      expect(moving).toBe(0);
      const seen = Object.groupBy(differences, ({ kind }) => kind);
      expect(seen.payment_missing).toEqual([
        {
          ...{ kind: "payment_missing", orderId: lost },
          ...{ reference: charges[0]?.reference, lastFour: charges[0]?.lastFour },
          journal: { says: "committed", cents: 5000, states: ["committed"] },
          other: { who: "payments", says: "nothing", cents: null, payments: [] },
        },
      ]);
      expect(seen.charge_missing).toEqual([
        {
          ...{ kind: "charge_missing", orderId: "order_none", reference: null, lastFour: null },
          journal: { says: "nothing", cents: null, states: [] },
          other: {
            ...{ who: "payments", says: "order_none paid", cents: 1200 },
            payments: [{ name: "order_none", state: "paid" }],
          },
        },
      ]);
      expect(seen.captured).toMatchObject([
        {
          ...{ orderId: final, journal: { says: "committed", cents: 5000 } },
          other: { says: "payment 7 captured", cents: 5000 },
        },
      ]);
      expect(seen.held?.toSorted((a, b) => Number(a.other.cents) - Number(b.other.cents))).toMatchObject([
        {
          ...{ orderId: owed, journal: { says: "reversing", cents: 5000 } },
          other: { says: `${owed} canceled`, cents: 0 },
        },
        { orderId: refunded, other: { says: `${refunded} partly refunded`, cents: 2500 } },
      ]);
      expect(seen.undecided).toMatchObject([
        { reference: undecided, journal: { says: "needs_attention", cents: null }, other: { cents: null } },
      ]);
      expect(differences).toHaveLength(6);
    });

    it("finds differences to the service", async () => {
      const [card, other] = [await shop.card(7500), await shop.card(900)];
      await buy(card);
      // Someone with the shop's API key charged a card without the shop.
      await createClient({
        ...{ baseUrl: shop.service.url, companyId: shop.client.companyId as number },
        apiKey: shop.apiKey,
      }).devalue({ ...other, amountCents: cents(900), reference: `past_${randomUUID()}` });
      const { differences, cards } = await reconcile({ report: await report() });
      expect(cards).toBeGreaterThan(1);
      expect(differences.filter(({ lastFour }) => lastFour === other.cardNumber.slice(-4))).toMatchObject([
        {
          ...{ kind: "service", journal: { says: expect.stringContaining("charged"), cents: 0 } },
          other: { who: "service", cents: 900 },
        },
      ]);
      expect(differences.filter(({ lastFour }) => lastFour === card.cardNumber.slice(-4))).toEqual([]);
      await expect(reconcile({ report: "nothing" })).rejects.toMatchObject({ name: "ReportError" });
    });

    it("reads a whole month of many charges", { tags: "long" }, async () => {
      const count = 1203;
      const at = store.moment(new Date("2026-03-15T12:00:00Z"));
      const token = `(select sealed_token from giftcard_charge where order_id = '${await buy()}')`;
      await store.sql(`insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents,
          expires_at, created_at, updated_at)
        select 'gct_' || n, 'cart_' || n, 'spent', '1234', 'card ' || n, 5000, ${at}, ${at}, ${at}
        from ${store.numbers(count)}`);
      await store.sql(`insert into giftcard_charge (reference, tender_id, cart_id, external_id, order_id, environment,
          base_url, company_id, state, last_four, amount_cents, deducted_cents, sealed_token, balance_before_cents,
          next_try_at, state_changed_at, created_at, updated_at, sent_at, devalued_at)
        select 'gc_' || n, 'gct_' || n, 'cart_' || n, 'session_' || n, 'order_' || n, 'sandbox', 'http://cards.example',
          ${shop.client.companyId}, 'committed', '1234', 1 + n % 50, 1 + n % 50, ${token}, 5000, ${at}, ${at}, ${at},
          ${at}, ${at}, ${at} from ${store.numbers(count)}`);
      orders = new Map(
        Array.from({ length: count }, (_, i) => [
          `order_${i + 1}`,
          { orderId: `order_${i + 1}`, amountCents: 1 + ((i + 1) % 50) },
        ]),
      );
      const month = { from: "2026-03-01", to: "2026-03-31" };
      const sumCents = [...orders.values()].reduce((sum, { amountCents }) => sum + amountCents, 0);
      expect(await checkout().operator.statement(month)).toMatchObject({ grossCents: sumCents });
      expect((await checkout().operator.statement(month)).lines).toHaveLength(count);
      const listed = await checkout().operator.reconcile({ ...month, payments });
      expect(listed).toMatchObject({ charges: count, payments: count, differences: [] });
      // The first and the last charge, and those at the ends of pages.
      const byReference = [...orders.keys()].toSorted();
      const planted = [0, 499, 500, 999, 1000, count - 1].map((index) => String(byReference[index]));
      for (const id of planted) orders.delete(id);
      async function* pages() {
        for (const payment of orders.values()) yield payment;
      }
      const found = await checkout().operator.reconcile({ ...month, payments: pages });
      expect(found.differences.map(({ kind, orderId }) => [kind, orderId]).toSorted()).toEqual(
        planted.map((id) => ["payment_missing", id]).toSorted(),
      );
    });

    it("sums several records of an order, and queries by period or by orders", async () => {
      const [early, lost] = [await buy(), await buy()];
      const [half, rest] = [2000, 3000].map((amountCents) => ({ orderId: early, amountCents })) as [
        ShopPayment,
        ShopPayment,
      ];
      const asked: PaymentQuery[] = [];
      const listed = (query: PaymentQuery) => {
        asked.push(query);
        if (query.from < query.to) return [rest];
        return [half, rest].filter(({ orderId }) => query.orderIds.includes(String(orderId)));
      };
      // The charges were made before this period, and only one record of the shop within it.
      const later = new Date(Date.now() + 10 * DAY_MS);
      const week = { from: dayOf(later), to: dayOf(new Date(later.getTime() + 7 * DAY_MS)) };
      expect(await checkout().operator.reconcile({ ...week, payments: listed })).toMatchObject({
        ...{ charges: 1, payments: 2, differences: [] },
      });
      expect(await reconcile({ payments: listed })).toMatchObject({
        ...{ charges: 2, payments: 2, differences: [{ kind: "payment_missing", orderId: lost }] },
      });
      const isOneKind = ({ from, to, orderIds, externalIds }: PaymentQuery) =>
        from < to !== orderIds.length + externalIds.length > 0;
      expect(asked.filter((query) => !isOneKind(query))).toEqual([]);
    });

    it("reports no purchase that moves during the reconciliation", { tags: "long" }, async () => {
      const [kept, moved] = [await buy(), await buy()];
      orders.delete(kept);
      let calls = 0;
      const found = await reconcile({
        payments: async () => {
          const before = await payments();
          calls += 1;
          // A cancellation after the shop's records were read, and a purchase that they don't contain.
          if (calls === 1) {
            await cancel(moved);
            await buy();
          }
          return before;
        },
      });
      expect(found.differences).toMatchObject([{ kind: "payment_missing", orderId: kept }]);
      expect(found.moving).toBe(0);
    });

    it("reports nothing while the shop sells, cancels and refunds concurrently", async () => {
      let isSelling = true;
      const sell = async () => {
        for (let i = 0; i < 6; i++) {
          const id = await buy();
          if (i % 2 === 1) await cancel(id);
        }
      };
      const selling = Promise.all([sell(), sell()]).finally(() => {
        isSelling = false;
      });
      while (isSelling) expect((await reconcile()).differences).toEqual([]);
      await selling;
      expect(await reconcile()).toMatchObject({ charges: 12, moving: 0, differences: [] });
    });

    it("counts a pending order as moving until it expires", { tags: "long" }, async () => {
      bank = "pending";
      const id = await buy();
      expect(await reconcile()).toMatchObject({ moving: 1, differences: [] });
      // Without recovery, the difference appears once it has expired.
      await sleep(LEASE_MS * 3.5);
      const late = await reconcile({ settledBefore: new Date() });
      expect(late).toMatchObject({ moving: 0, differences: [{ kind: "payment_missing", orderId: id }] });
      await checkout().recover();
      expect(await reconcile()).toMatchObject({ moving: 0, differences: [] });
    });

    it("ignores cards of another service", async () => {
      await buy();
      const { companyId, apiKey } = await shop.service.createCompany();
      const elsewhere = checkout(createClient({ baseUrl: shop.service.url, companyId, apiKey }));
      const theirs = await buy(undefined, elsewhere);
      expect(orders.has(theirs)).toBe(true);
      expect(await reconcile()).toMatchObject({ charges: 1, payments: 1, differences: [] });
      expect(await elsewhere.operator.reconcile({ ...days, payments })).toMatchObject({
        charges: 1,
        differences: [],
      });
      expect((await checkout().operator.statement(days)).grossCents).toBe(5000);
    });

    it("records a decision once, and returns no sealed values", async () => {
      const reference = await leaveToPerson();
      const { charges, count } = await checkout().operator.charges({ states: ["needs_attention"] });
      expect(count).toBe(1);
      expect(charges).toMatchObject([{ balanceBeforeCents: 7500, balanceAfterCents: 2500 }]);
      expect(await checkout().operator.retry(reference, "ada")).toMatchObject({ state: "needs_attention" });
      const results = await Promise.all([
        checkout().operator.markTaken(reference, "ada"),
        checkout().operator.markNotTaken(reference, "bob"),
      ]);
      expect(results.filter(Boolean)).toHaveLength(1);
      expect(await checkout().operator.retry(reference, "ada")).toBeNull();
      const evidence = await checkout().operator.evidence(reference);
      expect(evidence?.actions.map(({ action }) => action)).toHaveLength(2);
      expect(evidence?.balanceBeforeAt?.getTime()).toBeLessThan(Date.now() + DAY_MS);
      expect(await checkout().operator.evidence("gc_none")).toBeNull();
      const id = await buy();
      const shown = JSON.stringify([
        evidence,
        charges,
        await checkout().operator.charges(),
        await checkout().cancel(id),
      ]);
      for (const secret of ["eyJ", "sealed", "lease"]) expect(shown).not.toContain(secret);
    });

    it("removes an old sealing key once everything is resealed", async () => {
      const id = await buy();
      const newest = { id: "newest", key: Buffer.alloc(32, 9).toString("base64") };
      const keyed = (keys: typeof sealingKeys) => checkout(undefined, keys);
      expect((await keyed([newest]).health()).seals).toMatchObject({
        // The token, the card until it expires, and the key of the fingerprints.
        unopenable: 3,
        missingKeyIds: ["test"],
      });
      expect(await keyed([newest, ...sealingKeys]).operator.reseal()).toBe(3);
      expect((await keyed([newest]).health()).seals).toMatchObject({ unopenable: 0, counts: { newest: 3 } });
      expect(await keyed([newest]).cancel(id)).toMatchObject({ state: "canceled", status: "canceled" });
    });

    it("returns the health", async () => {
      await buy();
      expect(await checkout().health()).toMatchObject({
        environment: "sandbox",
        service: { isReachable: true, isKeyValid: true, fault: null, companyId: shop.client.companyId },
        seals: { newestKeyId: "test", counts: { test: 3 }, unopenable: 0 },
        charges: { committed: 1 },
      });
      const clock = (await checkout().health()).clock;
      expect(Math.abs(clock.databaseAheadMs)).toBeLessThan(60_000);
      shop.proxy.set("geteventconcepts", "cut-before");
      expect((await checkout().health()).service).toMatchObject({ isReachable: false, isKeyValid: null });
    });
  });
}
