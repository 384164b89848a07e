// @module-tag long
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { cents } from "@giftcard-pay/client";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as runRefunds from "../src/medusa-tables/bulk-refunds.js";
import * as cardPayments from "../src/medusa-tables/card-payments.js";
import * as carts from "../src/medusa-tables/carts.js";
import * as chargeSearch from "../src/medusa-tables/charge-search.js";
import * as charged from "../src/medusa-tables/charged-orders.js";
import * as orderPayment from "../src/medusa-tables/order-payment.js";
import * as orderRefund from "../src/medusa-tables/order-refund.js";
import * as orders from "../src/medusa-tables/orders.js";
import * as payments from "../src/medusa-tables/payments.js";
import type { Scan } from "../src/medusa-tables/scan.js";
import * as stock from "../src/medusa-tables/stock.js";
import * as stray from "../src/medusa-tables/stray-payments.js";
import * as unpaid from "../src/medusa-tables/unpaid-orders.js";
import * as unrecorded from "../src/medusa-tables/unrecorded-payments.js";
import { startShop, type TestShop } from "./support/shop.js";

/*
 * Runs every statement that reads Medusa's own tables against a real store. If another release of Medusa changes its
 * tables, this file fails.
 */

const folder = fileURLToPath(new URL("../src/medusa-tables/", import.meta.url));
/** Functions that return a part of a statement. */
const fragments = ["paymentsOf", "sumOf", "isRecordedSql"];
/** Functions with a test of their own, or without a statement. */
const others = ["findUntestedTables", "newCopy"];

/** An order of 74.98, paid 50.00 by card and 24.98 by a bank, and a cart that is ready to become such an order. */
interface Facts {
  readonly orderId: string;
  readonly cartId: string;
  readonly collectionId: string;
  readonly giftSessionId: string;
  readonly giftPaymentId: string;
  readonly bankSessionId: string;
  readonly bankPaymentId: string;
  readonly captureId: string;
  readonly readyCartId: string;
  readonly readySessionId: string;
}

let shop: TestShop;
let database: pg.Client;
let facts: Facts;
beforeAll(async () => {
  // The finders read the whole shop, so it has no rows of other files.
  shop = await startShop({ TEST_RECOVER_BY_HAND: "yes" });
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  facts = await writeFacts();
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

async function readyCart(): Promise<string> {
  const cartId = await shop.storefront.createCart();
  await shop.storefront.apply(cartId, await shop.service.issueCard({ balanceCents: 7500 }));
  await shop.storefront.initiate(cartId);
  return cartId;
}

async function writeFacts(): Promise<Facts> {
  const { storefront } = shop;
  const cartId = await readyCart();
  const { body } = await storefront.complete(cartId);
  const orderId: string = body.order.id;
  const order = await storefront.order(orderId);
  const [collection] = order.payment_collections;
  const of = (provider: string) =>
    collection.payments.find(({ provider_id }: { provider_id: string }) => provider_id === provider);
  const [gift, bank] = [of("pp_giftcard_giftcard"), of("pp_bank_bank")];
  await storefront.ok("POST", `/admin/payments/${gift.id}/capture`, {});
  const readyCartId = await readyCart();
  const ids = await database.query(
    `select (select id from capture where payment_id = $1) as capture,
       (select payment_session_id from payment where id = $1) as gift,
       (select payment_session_id from payment where id = $2) as bank,
       (select s.id from payment_session s join cart_payment_collection l using (payment_collection_id)
         where l.cart_id = $3 and s.deleted_at is null) as ready`,
    [gift.id, bank.id, readyCartId],
  );
  const [row] = ids.rows;
  return {
    ...{ orderId, cartId, readyCartId, collectionId: collection.id },
    ...{ giftPaymentId: gift.id, bankPaymentId: bank.id, captureId: row.capture },
    ...{ giftSessionId: row.gift, bankSessionId: row.bank, readySessionId: row.ready },
  };
}

const sql: Sql = async (text, params) => (await database.query(text, params)).rows;
const scan: Scan = { sql, leaseMs: 0, promisedRemainderMs: 0, capture: "manual", after: "", only: null };
const month = {
  from: new Date(Date.now() - 15 * 24 * 60 * 60_000),
  to: new Date(Date.now() + 15 * 24 * 60 * 60_000),
};
const remainderIsPending = ({ bankSessionId, cartId }: Facts) => [
  `insert into giftcard_remainder (session_id, cart_id, created_at)
   values ('${bankSessionId}', '${cartId}', now() - interval '2 days') on conflict do nothing`,
  `update payment_session set status = 'pending_authorization', created_at = now() - interval '1 hour',
     metadata = '{"giftcard_plan": "0000:5000"}' where id = '${bankSessionId}'`,
  `delete from giftcard_order where order_id = '${facts.orderId}'`,
];
const changeIsOpen = ({ orderId }: Facts) => [
  `insert into order_change (id, order_id, version, status, change_type, created_at)
   values ('ordch_open', '${orderId}', 2, 'requested', 'edit', now())`,
];

/** Reads a row without the columns that differ between any two rows. */
async function rowOf(table: string, id: string): Promise<Record<string, unknown>> {
  const own = ["id", "provider_id", "payment_session_id", "data", "context", "metadata"];
  const times = ["created_at", "updated_at", "authorized_at"];
  const rows = await sql(`select to_jsonb(t) - $2::text[] as row from ${table} t where id = $1`, [
    id,
    [...own, ...times],
  ]);
  return rows[0]?.row as Record<string, unknown>;
}

/** The amounts of two rows of one table differ. */
const amounts = {
  amount: expect.any(Number),
  raw_amount: { value: expect.stringMatching(/^[0-9.]+$/), precision: 20 },
};

interface Case {
  /** Changes made to the store before the case and undone after it. */
  readonly given?: (facts: Facts) => string[];
  readonly ask: (facts: Facts) => Promise<unknown>;
  readonly answer: (facts: Facts) => unknown;
}

const cases: Record<string, Case> = {
  createCardSession: {
    ask: async (f) => {
      const metadata = { giftcard_plan: "0001:2498" };
      const session = { collectionId: f.collectionId, amountCents: 2498, lastFour: "0001", metadata };
      const id = await cardPayments.createCardSession(sql, session);
      const [row] = await sql("select data, metadata from payment_session where id = $1", [id]);
      const written = await rowOf("payment_session", id);
      const byMedusa = { ...(await rowOf("payment_session", f.readySessionId)), payment_collection_id: f.collectionId };
      expect(written).toEqual(byMedusa);
      return [id, row];
    },
    answer: () => [
      expect.stringMatching(/^payses_[0-9A-Z]{26}$/),
      {
        data: { session_id: expect.any(String), state: "intent", amount_cents: 2498, last_four: "0001" },
        metadata: { giftcard_plan: "0001:2498" },
      },
    ],
  },
  authorizeCardSession: {
    given: (f) => [
      `update giftcard_charge set state = 'devalued', lease_owner = 'completion' where external_id = '${f.giftSessionId}'`,
      `delete from capture where payment_id = '${f.giftPaymentId}'`,
      `delete from payment where id = '${f.giftPaymentId}'`,
      `update payment_session set status = 'pending', authorized_at = null where id = '${f.giftSessionId}'`,
    ],
    ask: async (f) => {
      const byMedusa = await rowOf("payment_collection", f.collectionId);
      await sql(
        `update payment_collection set status = 'partially_authorized', authorized_amount = 24.98,
           refunded_amount = null, raw_refunded_amount = null where id = $1`,
        [f.collectionId],
      );
      const session = { sessionId: f.giftSessionId, data: { last_four: "0001" } };
      const authorize = (owner: string) => cardPayments.authorizeCardSession(sql, { ...session, owner });
      const isAuthorized = [await authorize("recovery"), await authorize("completion"), await authorize("completion")];
      expect(isAuthorized).toEqual([false, true, false]);
      expect(await rowOf("payment_collection", f.collectionId)).toEqual(byMedusa);
      const [payment] = await sql("select id, data from payment where payment_session_id = $1", [f.giftSessionId]);
      for (const [table, id, other] of [
        ["payment", String(payment?.id), f.bankPaymentId],
        ["payment_session", f.giftSessionId, f.bankSessionId],
      ] as const)
        expect(await rowOf(table, id)).toEqual({ ...(await rowOf(table, other)), ...amounts });
      return [
        payment,
        ...(await sql("select data, authorized_at from payment_session where id = $1", [f.giftSessionId])),
      ];
    },
    answer: () => [
      { id: expect.stringMatching(/^pay_[0-9A-Z]{26}$/), data: { last_four: "0001" } },
      { data: { last_four: "0001" }, authorized_at: expect.any(Date) },
    ],
  },
  readCartSessions: {
    ask: (f) => carts.readCartSessions(sql, f.readyCartId),
    answer: (f) => ({
      collectionId: expect.any(String),
      sessions: [
        expect.objectContaining({
          ...{ id: f.readySessionId, provider_id: "pp_bank_bank", status: "pending", amountCents: 2498 },
          ...{ metadata: { giftcard_plan: expect.any(String) }, payment: null },
        }),
      ],
    }),
  },
  hadCards: {
    ask: async (f) => [await carts.hadCards(sql, f.cartId), await carts.hadCards(sql, "cart_gone")],
    answer: () => [true, false],
  },
  isReady: {
    ask: async (f) => {
      const isReady = [await carts.isReady(sql, f.readyCartId, null), await carts.isReady(sql, f.cartId, null)];
      const plan = "select metadata ->> 'giftcard_plan' as shown from payment_session where id = $1";
      const [session] = await sql(plan, [f.readySessionId]);
      for (const shown of [String(session?.shown), "another"])
        isReady.push(await carts.isReady(sql, f.readyCartId, shown));
      await sql(
        `insert into payment (id, amount, raw_amount, currency_code, provider_id, payment_collection_id, payment_session_id)
         select 'pay_early', amount, raw_amount, currency_code, provider_id, payment_collection_id, id
         from payment_session where id = $1`,
        [f.readySessionId],
      );
      isReady.push(await carts.isReady(sql, f.readyCartId, null));
      await sql("insert into refund (id, amount, raw_amount, payment_id) values ('ref_one', 1, '{}', 'pay_early')", []);
      return [...isReady, await carts.isReady(sql, f.readyCartId, null)];
    },
    answer: () => [true, false, true, false, true, false],
  },
  providersOfCart: {
    ask: async (f) => [
      (await carts.providersOfCart(sql, f.cartId)).sort(),
      await carts.providersOfCart(sql, "cart_gone"),
    ],
    answer: () => [expect.arrayContaining(["pp_bank_bank", "pp_giftcard_giftcard"]), []],
  },
  readPlacedOrders: {
    ask: (f) => carts.readPlacedOrders(sql, f.cartId),
    answer: (f) => [
      {
        order_id: f.orderId,
        currency_code: "eur",
        raw_total: expect.objectContaining({ value: expect.stringMatching(/^74\.98/) }),
      },
    ],
  },
  ordersOfCart: { ask: (f) => carts.ordersOfCart(sql, f.cartId), answer: (f) => [f.orderId] },
  cartOfOrder: { ask: (f) => carts.cartOfOrder(sql, f.orderId), answer: (f) => f.cartId },
  orderOfPayment: {
    given: (f) => [
      `insert into refund (id, amount, raw_amount, payment_id) values ('ref_one', 1, '{"value": "1"}', '${f.giftPaymentId}')`,
    ],
    ask: (f) => carts.orderOfPayment(sql, f.bankPaymentId),
    answer: (f) => ({ orderId: f.orderId, cartId: f.cartId, refundCount: 1 }),
  },
  findChargedCanceled: {
    given: (f) => [`update "order" set canceled_at = now() where id = '${f.orderId}'`],
    ask: () => charged.findChargedCanceled(scan),
    answer: (f) => [
      {
        reference: expect.stringMatching(/^gc_/),
        state: "captured",
        orderId: f.orderId,
        paymentId: f.giftPaymentId,
      },
    ],
  },
  findOrderless: {
    given: (f) => [
      `update giftcard_charge set order_id = 'order_gone', updated_at = now() - interval '1 hour'
       where order_id = '${f.orderId}'`,
    ],
    ask: () => charged.findOrderless(scan),
    answer: (f) => [
      {
        reference: expect.stringMatching(/^gc_/),
        orderId: "order_gone",
        ...{ cartId: f.cartId, sessionId: f.giftSessionId },
      },
    ],
  },
  findReopened: {
    given: (f) => [`update cart set completed_at = null where id = '${f.cartId}'`],
    ask: () => charged.findReopened(scan),
    answer: (f) => [{ orderId: f.orderId, cartId: f.cartId }],
  },
  findClosed: {
    given: (f) => [
      `update giftcard_charge set state = 'refused' where order_id = '${f.orderId}'`,
      `update cart set updated_at = now() - interval '1 hour' where id = '${f.cartId}'`,
      `update order_cart set deleted_at = now() where cart_id = '${f.cartId}'`,
      `update order_payment_collection set deleted_at = now() where order_id = '${f.orderId}'`,
      // Its card was never charged.
      `update cart set completed_at = now(), updated_at = now() - interval '1 hour' where id = '${f.readyCartId}'`,
      `update giftcard_cart_lease set until = now()`,
    ],
    ask: () => charged.findClosed(scan),
    answer: (f) => [f.cartId, f.readyCartId].sort(),
  },
  findStrayPayments: {
    given: (f) => [
      `update giftcard_charge set state = 'refused' where order_id = '${f.orderId}'`,
      `update payment set updated_at = now() - interval '1 hour' where id in ('${f.giftPaymentId}', '${f.bankPaymentId}')`,
      `update payment set canceled_at = now() where id = '${f.giftPaymentId}'`,
      `update order_cart set deleted_at = now() where cart_id = '${f.cartId}'`,
      `update order_payment_collection set deleted_at = now() where order_id = '${f.orderId}'`,
    ],
    ask: () => stray.findStrayPayments(scan),
    answer: (f) => [{ paymentId: f.bankPaymentId, sessionId: f.bankSessionId, cartId: f.cartId }],
  },
  findCanceledPayments: {
    given: (f) => [
      `update "order" set canceled_at = now() - interval '1 hour' where id = '${f.orderId}'`,
      // It was unpaid once, and a person exempted it from canceling.
      `insert into giftcard_unpaid_order (order_id, cart_id, reason) values ('${f.orderId}', '${f.cartId}', 'remainder_lapsed')`,
      `insert into giftcard_job (kind, id, order_id, last_error, exempted_at, exempted_by)
       values ('cancel_order', '${f.orderId}', '${f.orderId}', 'edited', now() - interval '2 hours', 'somebody')`,
    ],
    ask: () => stray.findCanceledPayments(scan),
    answer: (f) => [{ paymentId: f.bankPaymentId, orderId: f.orderId, cartId: f.cartId }],
  },
  isOrderless: {
    ask: async (f) => [await stray.isOrderless(sql, f.cartId), await stray.isOrderless(sql, f.readyCartId)],
    answer: () => [false, true],
  },
  hadOrder: {
    given: (f) => [
      `update payment_session set deleted_at = now() + interval '1 hour' where id = '${f.bankSessionId}'`,
      `update payment_session set deleted_at = now() - interval '1 hour' where id = '${f.giftSessionId}'`,
    ],
    ask: async (f) => [
      await stray.hadOrder(sql, f.cartId, f.bankSessionId),
      await stray.hadOrder(sql, f.cartId, f.giftSessionId),
      await stray.hadOrder(sql, f.readyCartId, f.bankSessionId),
    ],
    answer: () => [true, false, false],
  },
  endExpiredLocks: {
    given: (f) => [
      `create table locking (id text primary key, owner_id text, expiration timestamptz)`,
      `insert into locking (id, expiration) values ('${f.cartId}', now() - interval '1 second'), ('${f.readyCartId}', now()),
         ('giftcard_recovery', now() - interval '1 second'), ('cart_other', now() - interval '1 second')`,
    ],
    ask: async () => {
      await carts.endExpiredLocks(sql);
      return sql("select id from locking order by id", []);
    },
    answer: (f) => [{ id: "cart_other" }, { id: f.readyCartId }].sort((a, b) => (a.id < b.id ? -1 : 1)),
  },
  findUnnoted: {
    given: (f) => [`delete from giftcard_order where order_id = '${f.orderId}'`],
    ask: () => charged.findUnnoted(scan),
    answer: (f) => [f.orderId],
  },
  giftcardItemsOfCart: {
    given: (f) => [`update cart_line_item set is_giftcard = true where cart_id = '${f.cartId}'`],
    ask: async (f) => [
      await carts.giftcardItemsOfCart(sql, f.cartId),
      await carts.giftcardItemsOfCart(sql, f.readyCartId),
    ],
    answer: () => [[expect.stringMatching(/^cali_/)], []],
  },
  giftcardItemsOfOrder: {
    given: (f) => [
      `update product set metadata = '{"giftcard": true}' where id = (select product_id from order_line_item i
         join order_item sold on sold.item_id = i.id where sold.order_id = '${f.orderId}')`,
    ],
    ask: async (f) => [
      await carts.giftcardItemsOfOrder(sql, f.cartId),
      await carts.giftcardItemsOfOrder(sql, "cart_gone"),
    ],
    answer: () => [[expect.stringMatching(/^ordli_/)], []],
  },
  readOrderPayments: {
    ask: (f) => orderPayment.readOrderPayments(sql, [f.orderId]),
    answer: (f) => [paidOrder(f)],
  },
  readOrderPayment: {
    ask: (f) => orderPayment.readOrderPayment(sql, f.orderId),
    answer: paidOrder,
  },
  readOrderNames: {
    ask: (f) => orders.readOrderNames(sql, [{ orderId: f.orderId }, { orderId: null }]),
    answer: (f) => ({ [f.orderId]: expect.stringMatching(/^#\d+$/) }),
  },
  readCanceledOrders: {
    given: (f) => [`update "order" set canceled_at = now() where id = '${f.orderId}'`],
    ask: (f) => orders.readCanceledOrders(sql, [{ orderId: f.orderId }, { orderId: null }]),
    answer: (f) => [f.orderId],
  },
  findOrdersByNumber: {
    given: (f) => [`update "order" set display_id = 4711 where id = '${f.orderId}'`],
    ask: async () => [
      await chargeSearch.findOrdersByNumber(sql, 4711),
      await chargeSearch.findOrdersByNumber(sql, 4712),
    ],
    answer: (f) => [[f.orderId], []],
  },
  findChargedCarts: {
    given: (f) => [
      `insert into customer (id, email) values ('cus_guest', 'eve@example.com'), ('cus_new', 'new@example.com')`,
      `update cart set customer_id = 'cus_guest' where id in ('${f.cartId}', '${f.readyCartId}')`,
      `update "order" set customer_id = 'cus_new' where id = '${f.orderId}'`,
    ],
    ask: async () => [
      await chargeSearch.findChargedCarts(sql, "Eve@example.com"),
      await chargeSearch.findChargedCarts(sql, "new@example.com"),
      await chargeSearch.findChargedCarts(sql, "nobody@example.com"),
    ],
    // The other cart of the guest has no charge.
    answer: (f) => [[f.cartId], [f.cartId], []],
  },
  readLineTitles: {
    given: (f) => [
      `update order_line_item set product_title = 'Gala', variant_title = 'Row 5' where id in
         (select item_id from order_item where order_id = '${f.orderId}')`,
    ],
    ask: async (f) => {
      const items = await sql("select item_id as id from order_item where order_id = $1", [f.orderId]);
      const methods = await sql("select shipping_method_id as id from order_shipping where order_id = $1", [f.orderId]);
      const ids = [...items, ...methods].map(({ id }) => String(id));
      return Object.values(await chargeSearch.readLineTitles(sql, [...ids, "none"])).sort();
    },
    answer: () => ["Gala, Row 5", "Tickets by e-mail"],
  },
  notePaid: {
    given: (f) => [`delete from giftcard_order where order_id = '${f.orderId}'`],
    ask: async (f) => {
      const payment = await orderPayment.readOrderPayment(sql, f.orderId);
      if (payment) await orders.notePaid(sql, payment);
      return (await orderPayment.readOrderPayment(sql, f.orderId))?.paidAt;
    },
    answer: () => expect.any(Date),
  },
  noteLines: {
    given: (f) => [`update giftcard_order set lines = null where order_id = '${f.orderId}'`],
    ask: async ({ orderId, cartId }) => {
      await orders.noteLines(sql, { orderId, cartId }, [{ id: "line", quantity: 1, totalCents: cents(7498) }]);
      await orders.noteLines(sql, { orderId, cartId }, []);
      return (await orderRefund.readRefundable(sql, orderId))?.lines;
    },
    answer: () => [{ id: "line", quantity: 1, totalCents: 7498 }],
  },
  readCancelRefunds: {
    given: (f) => [
      `update "order" set canceled_at = now() where id = '${f.orderId}'`,
      `insert into refund (id, amount, raw_amount, payment_id) values ('ref_one', 1, '{}', '${f.giftPaymentId}'), ('ref_two', 1, '{}', '${f.giftPaymentId}')`,
      `insert into order_transaction (id, order_id, amount, raw_amount, currency_code, reference, reference_id)
       values ('ordtrx_two', '${f.orderId}', -1, '{"value": "-1"}', 'eur', 'refund', 'ref_two')`,
    ],
    ask: async () => [...(await payments.readCancelRefunds(sql, ["ref_one", "ref_two", "ref_gone"]))],
    answer: () => ["ref_one"],
  },
  readRefundable: {
    given: (f) => [
      `update order_summary set totals = jsonb_set(totals, '{raw_pending_difference,value}', '"-12.5"') where order_id = '${f.orderId}'`,
      `update order_item set return_received_quantity = 1 where order_id = '${f.orderId}'`,
      `insert into order_line_item_adjustment (id, version, amount, raw_amount, item_id)
       select 'adj_one', 1, 10, '{"value": "10"}', item_id from order_item where order_id = '${f.orderId}'`,
      `update order_line_item set is_tax_inclusive = false where id in (select item_id from order_item where order_id = '${f.orderId}')`,
      `update giftcard_order set lines = null where order_id = '${f.orderId}'`,
      `insert into refund (id, amount, raw_amount, payment_id, metadata)
       values ('ref_one', 1, '{"value": "1.005"}', '${f.giftPaymentId}', '{"giftcard_units": {"a": 2}, "giftcard_ahead_cents": 3}')`,
      `insert into order_transaction (id, order_id, amount, raw_amount, currency_code, reference, reference_id)
       values ('ordtrx_cash', '${f.orderId}', 2.5, '{"value": "2.5"}', 'eur', 'cash', 'desk')`,
    ],
    ask: (f) => orderRefund.readRefundable(sql, f.orderId),
    answer: (f) => ({
      ...{
        orderId: f.orderId,
        orderName: expect.stringMatching(/^#\d+$/),
        cartId: f.cartId,
        isCanceled: false,
      },
      ...{
        placedCents: 7498,
        pending: "-12.5",
        settledCents: 250,
        lines: null,
        awaitsReturn: false,
        isExtended: false,
      },
      isRefunding: true,
      isUndecided: false,
      hasBegunLine: false,
      items: [
        {
          id: expect.stringMatching(/^ordli_/),
          ...{ variantId: expect.stringMatching(/^variant_/), productId: expect.stringMatching(/^prod_/) },
          removedAt: null,
          versions: [
            {
              ...{ createdAt: expect.any(String), isPlaced: true, isDiscountedAnew: false },
              ...{ quantity: 1, kept: 0, requested: 0 },
              // 74.98 and 10.00, with 9 % tax.
              ...{
                price: expect.stringMatching(/^81\.72820*$/),
                discount: expect.stringMatching(/^10\.90*$/),
              },
            },
          ],
        },
        {
          id: expect.stringMatching(/^ordsm_/),
          ...{ variantId: null, productId: null, removedAt: null },
          versions: [
            {
              ...{ createdAt: expect.any(String), isPlaced: true, isDiscountedAnew: false },
              ...{ quantity: 1, kept: 1, requested: 0, price: "0", discount: "0" },
            },
          ],
        },
      ],
      refunds: [
        {
          ...{ id: "ref_one", cents: 101, createdAt: expect.any(String) },
          ...{ units: new Map([["a", 2]]), aheadCents: 3, waived: "0" },
        },
      ],
      payments: [
        {
          ...{ id: f.giftPaymentId, sessionId: f.giftSessionId, providerId: "pp_giftcard_giftcard" },
          ...{ isGiftcard: true, capturedCents: 5000, leftCents: 4899, uncapturedCents: 0, restCents: 0 },
        },
        {
          ...{ id: f.bankPaymentId, sessionId: f.bankSessionId, providerId: "pp_bank_bank" },
          ...{ isGiftcard: false, capturedCents: 0, leftCents: 0, uncapturedCents: 2498, restCents: 0 },
        },
      ],
    }),
  },
  findSold: {
    ask: (f) => runRefunds.findSold(sql, { orderIds: [f.orderId] }),
    answer: (f) => [{ orderId: f.orderId, orderName: expect.stringMatching(/^#\d+$/) }],
  },
  nameOfSold: {
    ask: async () => {
      const [variant] = await sql("select id from product_variant where deleted_at is null limit 1", []);
      return [
        await runRefunds.nameOfSold(sql, { variantId: String(variant?.id) }),
        await runRefunds.nameOfSold(sql, { orderIds: ["order_1", "order_1"] }),
        await runRefunds.nameOfSold(sql, { orderIds: ["order_1", "order_2", "order_1"] }),
      ];
    },
    answer: () => [expect.stringContaining(", "), "1 order", "2 orders"],
  },
  readBulkRefundParts: {
    given: (f) => [
      `insert into refund (id, amount, raw_amount, payment_id, metadata)
       values ('ref_run', 1, '{"value": "1"}', '${f.giftPaymentId}', '{"giftcard_bulk_refund": "run"}')`,
    ],
    ask: (f) =>
      runRefunds.readBulkRefundParts(sql, {
        bulkRefundId: "run",
        orderId: f.orderId,
      }),
    answer: (f) => [{ paymentId: f.giftPaymentId, isRecorded: false }],
  },
  decideOrder: {
    given: (f) => [
      "insert into giftcard_bulk_refund (id, title, sold, actor) values ('run', 'Gala', '{}', 'somebody')",
      `insert into giftcard_bulk_refund_order (bulk_refund_id, order_id, state, units, amount_cents, parts, captures)
       values ('run', '${f.orderId}', 'person', '{}', 1, '[]', '[]')`,
    ],
    ask: async ({ orderId }) => {
      const decide = () => runRefunds.decideOrder(sql, { bulkRefundId: "run", orderId }, "open");
      return [await decide(), await decide(), await sql("select state from giftcard_bulk_refund_order", [])];
    },
    answer: () => [true, false, [{ state: "open" }]],
  },
  readBulkRefundBasis: {
    ask: async (f) => {
      const ask = () =>
        runRefunds.readBulkRefundBasis(sql, {
          bulkRefundId: "run",
          orderId: f.orderId,
        });
      const before = await ask();
      const refund = (id: string, metadata: string) =>
        sql(
          `insert into refund (id, amount, raw_amount, payment_id, metadata)
           values ($1, 1, '{"value": "1"}', $2, $3::jsonb)`,
          [id, f.giftPaymentId, metadata],
        );
      await refund("ref_own", '{"giftcard_bulk_refund": "run"}');
      const withOwn = await ask();
      await refund("ref_other", "{}");
      return [/^[0-9a-f]{32}$/.test(before), withOwn === before, (await ask()) === before];
    },
    answer: () => [true, true, false],
  },
  findOrder: {
    given: (f) => [
      `insert into "order" (id, version, status, currency_code, is_draft_order)
       values ('order_draft', 1, 'draft', 'eur', true)`,
      `update "order" set customer_id = 'cus_owner' where id = '${f.orderId}'`,
    ],
    ask: (f) => Promise.all([f.orderId, "order_draft", "order_none"].map((id) => carts.findOrder(sql, id))),
    answer: (f) => [{ cartId: f.cartId, customerId: "cus_owner" }, null, null],
  },
  concernsRefund: {
    ask: async (f) => {
      const order = { orderId: f.orderId, cartId: null, refundCount: 0 };
      const asked = [await carts.concernsRefund(sql, order)];
      await sql("delete from giftcard_order where order_id = $1", [f.orderId]);
      await sql("update payment set provider_id = 'pp_bank_bank' where id = $1", [f.giftPaymentId]);
      asked.push(await carts.concernsRefund(sql, order), await carts.concernsRefund(sql, { ...order, refundCount: 1 }));
      return asked;
    },
    answer: () => [true, false, true],
  },
  orderWithPayment: {
    ask: (f) => orders.orderWithPayment(sql, f.cartId, f.giftSessionId),
    answer: (f) => f.orderId,
  },
  readOpenChange: {
    given: changeIsOpen,
    ask: (f) => Promise.all([orders.readOpenChange(sql, f.orderId), orders.readOpenChange(sql, "order_none")]),
    answer: () => [{ code: "openEdit" }, null],
  },
  readHeldInChange: {
    given: changeIsOpen,
    ask: (f) => orders.readHeldInChange(sql, f.orderId),
    answer: (f) => ({ orderId: f.orderId, cents: 2498 }),
  },
  awaitsPayment: {
    given: (f) => [`update payment_session set status = 'pending_authorization' where id = '${f.bankSessionId}'`],
    ask: (f) => orders.awaitsPayment(sql, f.orderId),
    answer: () => true,
  },
  readPaymentStanding: {
    ask: (f) => payments.readPaymentStanding(sql, f.giftPaymentId),
    answer: () => ({ isCanceled: false, isRefunded: false, isPartial: false, capturedLeft: "50" }),
  },
  readRefunds: {
    given: (f) => [
      `insert into refund (id, amount, raw_amount, payment_id, metadata)
       values ('ref_one', 1, '{"value": "1"}', '${f.giftPaymentId}', '{"a": 1}')`,
    ],
    ask: (f) => orderRefund.readRefunds(sql, f.giftSessionId),
    answer: () => ({ amount: "50", refunds: [{ id: "ref_one", amount: "1", metadata: { a: 1 } }] }),
  },
  readSessionPayments: {
    ask: (f) => payments.readSessionPayments(sql, [f.bankSessionId]),
    answer: (f) => [
      {
        ...{ id: f.bankSessionId, provider_id: "pp_bank_bank", status: "authorized" },
        payment: { id: f.bankPaymentId, isCaptured: false, isOver: false },
      },
    ],
  },
  hasSession: {
    ask: async (f) => [await payments.hasSession(sql, f.bankSessionId), await payments.hasSession(sql, "payses_gone")],
    answer: () => [true, false],
  },
  isOfOrder: {
    ask: async (f) => [
      await payments.isOfOrder(sql, f.collectionId),
      await payments.isOfOrder(sql, f.giftSessionId),
      await payments.isOfOrder(sql, f.readySessionId),
    ],
    answer: () => [true, true, false],
  },
  readCollection: {
    given: (f) => [`update payment_session set status = 'pending_authorization' where id = '${f.readySessionId}'`],
    ask: async (f) => {
      const { rows } = await database.query("select payment_collection_id as id from payment_session where id = $1", [
        f.readySessionId,
      ]);
      const ready = rows[0].id;
      const open = await payments.readCollection(sql, ready);
      await sql("update cart set completed_at = now() where id = $1", [f.readyCartId]);
      const promised = await payments.readCollection(sql, ready);
      await sql("delete from giftcard_tender where cart_id = $1", [f.readyCartId]);
      return [
        await payments.readCollection(sql, f.collectionId),
        open,
        promised,
        await payments.readCollection(sql, ready),
      ];
    },
    answer: (f) => [
      {
        cartId: f.cartId,
        orderName: expect.stringMatching(/^#\d+$/),
        hadCards: true,
        isOfOrder: true,
        paysOrder: true,
      },
      { cartId: f.readyCartId, orderName: null, hadCards: true, isOfOrder: false, paysOrder: false },
      { cartId: f.readyCartId, orderName: null, hadCards: true, isOfOrder: true, paysOrder: true },
      { cartId: f.readyCartId, orderName: null, hadCards: false, isOfOrder: true, paysOrder: false },
    ],
  },
  readGiftcardPayments: {
    ask: async (f) => {
      const read = async (query: Parameters<typeof payments.readGiftcardPayments>[1]) => {
        const found = [];
        for await (const payment of payments.readGiftcardPayments(sql, query)) found.push(payment);
        return found;
      };
      const never = { from: month.from, to: month.from };
      const byId = await read({ ...never, externalIds: [f.giftSessionId, f.bankSessionId], orderIds: [] });
      expect(await read({ ...month, externalIds: [], orderIds: [] })).toEqual(expect.arrayContaining(byId));
      return byId;
    },
    answer: (f) => [
      {
        ...{ id: f.giftPaymentId, externalId: f.giftSessionId, orderId: f.orderId, isCanceled: false },
        ...{ amountCents: 5000, capturedCents: 5000, refundedCents: 0 },
      },
    ],
  },
  findCardsBesideOrders: {
    given: (f) => [`update giftcard_tender set state = 'applied' where cart_id = '${f.cartId}'`],
    ask: async (f) => {
      const linked = await unpaid.findCardsBesideOrders(scan);
      await sql("update order_cart set deleted_at = now() where order_id = $1", [f.orderId]);
      const byCollection = await unpaid.findCardsBesideOrders(scan);
      await sql("insert into order_cart (id, order_id, cart_id) values ('other', 'order_other', $1)", [f.cartId]);
      return [linked, byCollection, await unpaid.findCardsBesideOrders(scan)];
    },
    answer: (f) => {
      const one = [{ orderId: f.orderId, cartId: f.cartId, reason: "unpaid" }];
      return [one, one, []];
    },
  },
  findEndedRemainders: {
    given: remainderIsPending,
    ask: async (f) => {
      const lapsed = await unpaid.findEndedRemainders(scan);
      const notYet = await unpaid.findEndedRemainders({ ...scan, promisedRemainderMs: 86_400_000 });
      await sql('update "order" set canceled_at = now() where id = $1', [f.orderId]);
      return [lapsed, notYet, await unpaid.findEndedRemainders(scan)];
    },
    answer: ({ orderId, cartId }) => [
      [{ orderId, cartId, reason: "remainder_lapsed" }],
      [],
      [{ orderId, cartId, reason: "unpaid" }],
    ],
  },
  readOrderLinks: {
    ask: async ({ orderId, collectionId }) => {
      const links = () => unpaid.readOrderLinks(sql, orderId);
      const unlinkPayment = "update order_payment_collection set deleted_at = now() where payment_collection_id = $1";
      const whole = await links();
      await database.query("savepoint whole");
      await sql(unlinkPayment, [collectionId]);
      const withoutPayment = await links();
      await database.query("rollback to whole");
      await sql("update order_cart set deleted_at = now() where order_id = $1", [orderId]);
      const withoutCart = await links();
      await sql(unlinkPayment, [collectionId]);
      return [whole, withoutPayment, withoutCart, await links()];
    },
    answer: ({ cartId, collectionId }) => [
      { cartId, isPlaced: true, looseCollectionId: null },
      { cartId, isPlaced: true, looseCollectionId: collectionId },
      { cartId, isPlaced: false, looseCollectionId: null },
      null,
    ],
  },
  orderOfPendingSession: {
    given: remainderIsPending,
    ask: (f) => unpaid.orderOfPendingSession(sql, f.bankSessionId),
    answer: (f) => ({ orderId: f.orderId, cartId: f.cartId }),
  },
  expectRemainder: {
    given: (f) => [`update payment_session set status = 'pending_authorization' where id = '${f.readySessionId}'`],
    ask: async (f) => {
      await unpaid.expectRemainder(sql, f.readySessionId, f.readyCartId);
      return (await sql(unpaid.PENDING_REMAINDERS, []))[0]?.count;
    },
    answer: () => "1",
  },
  forgetRemainders: {
    given: (f) => [
      ...remainderIsPending(f),
      `update payment_session set status = 'authorized' where id = '${f.bankSessionId}'`,
    ],
    ask: async () => {
      await unpaid.forgetRemainders(sql);
      return sql("select session_id from giftcard_remainder", []);
    },
    answer: () => [],
  },
  readPending: {
    given: (f) => [
      `update order_summary set totals = jsonb_set(totals, '{raw_pending_difference,value}', '"-12.5"') where order_id = '${f.orderId}'`,
      `update "order" set status = 'canceled' where id = '${f.orderId}'`,
    ],
    ask: async (f) => [await orderRefund.readPending(sql, f.orderId), await orderRefund.readPending(sql, "order_gone")],
    answer: () => [
      { pending: "-12.5", isCanceled: true },
      { pending: "0", isCanceled: false },
    ],
  },
  findUnrecorded: {
    given: (f) => [
      `delete from order_transaction where order_id = '${f.orderId}' and reference = 'capture'`,
      `update capture set created_at = now() - interval '1 hour' where id = '${f.captureId}'`,
    ],
    ask: () => unrecorded.findUnrecorded(scan),
    answer: (f) => [
      {
        cartId: f.cartId,
        ...{ sessionId: f.giftSessionId, orderId: f.orderId, currency: "eur", kind: "capture", amount: "50" },
        ...{ entryId: f.captureId, paymentId: f.giftPaymentId, isCaptured: true },
      },
    ],
  },
  findUncaptured: {
    given: (f) => [
      `delete from capture where payment_id = '${f.giftPaymentId}'`,
      `update payment set captured_at = null where id = '${f.giftPaymentId}'`,
      `insert into giftcard_order (order_id, cart_id, total_cents, paid_at) values ('${f.orderId}', '${f.cartId}', 7498, now())
       on conflict (order_id) do update set paid_at = now()`,
    ],
    ask: async (f) => {
      const find = async (capture: Scan["capture"]) => charged.findUncaptured({ ...scan, capture });
      const [placed, manual] = [await find("when-placed"), await find("manual")];
      await sql(`update "order" set canceled_at = now() where id = $1`, [f.orderId]);
      return { placed, manual, canceled: await find("when-placed") };
    },
    answer: ({ orderId, cartId, giftPaymentId }) => {
      const found = [{ orderId, cartId, paymentIds: [giftPaymentId] }];
      return { placed: found, manual: [], canceled: [] };
    },
  },
  readBegunCaptures: {
    given: (f) => [
      `insert into capture (id, amount, raw_amount, payment_id) values ('capt_begun', 24.98, '{"value": "24.98"}', '${f.bankPaymentId}')`,
    ],
    ask: (f) =>
      Promise.all(
        [f.bankPaymentId, f.giftPaymentId].map((paymentId) =>
          unrecorded.readBegunCaptures(sql, { paymentId, orderId: f.orderId }),
        ),
      ),
    answer: () => [["capt_begun"], []],
  },
  findBegunCreditLines: {
    given: (f) => [
      `insert into order_change (id, order_id, version, status, change_type, created_at)
       values ('ordch_begun', '${f.orderId}', 2, 'pending', 'credit_line', now() - interval '1 hour')`,
    ],
    ask: () => unrecorded.findBegunCreditLines(scan),
    answer: (f) => [{ changeId: "ordch_begun", orderId: f.orderId, isWhole: false }],
  },
  isWaived: {
    given: (f) => [
      `insert into order_credit_line (id, order_id, amount, raw_amount, reference, reference_id)
       values ('ordcl_one', '${f.orderId}', 1, '{"value": "1"}', 'refund', 'ref_one')`,
    ],
    ask: async (f) => [
      await unrecorded.isWaived(sql, f.orderId, "ref_one"),
      await unrecorded.isWaived(sql, f.orderId, "ref_two"),
    ],
    answer: () => [true, false],
  },
  findSoldOut: {
    // Half a unit is left.
    given: () => ["update inventory_level set stocked_quantity = 500, reserved_quantity = 499.5"],
    ask: async (f) => {
      const look = async (change: string, cartId = f.readyCartId) => {
        await sql(change, []);
        return stock.findSoldOut(sql, cartId);
      };
      // The order of the only reservation is paid, so the reservation stays.
      const refusals = [
        await look("update reservation_item set created_at = now()"),
        await look("update payment_collection set status = 'partially_authorized'"),
        // Its other payment is neither made nor promised yet: it is being completed.
        await look(`update payment set deleted_at = now() where id = '${f.bankPaymentId}'`),
        await look(`update payment_session set status = 'pending_authorization' where id = '${f.bankSessionId}'`),
        await look(`update payment_session set status = 'authorized'; update payment_collection set amount = 0`),
        await look(
          "update payment_collection set amount = 1; update reservation_item set created_at = now() - interval '1 minute'",
        ),
        await look(`update cart_payment_collection set cart_id = '${f.readyCartId}' where cart_id = '${f.cartId}'`),
      ];
      return {
        refusals: refusals.map((found) => found?.refusal),
        ordered: await look("select 1", f.cartId),
        unknown: await look("select 1", "none"),
        half: await look("select 1"),
        tooFew: [
          await look("update cart_line_item set quantity = 3"),
          await look("update inventory_level set reserved_quantity = 498"),
          await look("update cart_line_item set variant_title = 'Balcony'"),
        ],
        enough: await look("update inventory_level set reserved_quantity = 497"),
        kit: await look("update product_variant_inventory_item set required_quantity = 2"),
        lostUpdate: await look(`update product_variant_inventory_item set required_quantity = 1;
          update inventory_level set reserved_quantity = 0, stocked_quantity = 3`),
        // It doesn't take the units of the others.
        oversoldElsewhere: await look(`insert into inventory_level
          (id, inventory_item_id, location_id, stocked_quantity, reserved_quantity)
          select 'ilev_' || inventory_item_id, inventory_item_id, 'sloc_other', 0, 1 from inventory_level
            where stocked_quantity = 3;
          insert into sales_channel_stock_location (id, sales_channel_id, stock_location_id)
          select 'scloc_other', sales_channel_id, 'sloc_other' from cart where id = '${f.readyCartId}'`),
        otherChannel: await look(`update sales_channel_stock_location set sales_channel_id = 'sc_other'
          where id = 'scloc_other'; update inventory_level set stocked_quantity = 9 where location_id = 'sloc_other'`),
        noLevel: await look("delete from inventory_level"),
        backorder: await look("update product_variant set allow_backorder = true"),
        unmanaged: await look("update product_variant set allow_backorder = false, manage_inventory = false"),
      };
    },
    answer: () => {
      const soldOut = (left: number, title = expect.stringMatching(/^Summer Night Festival, .+/)) => ({
        ...{ title, left, id: expect.stringMatching(/^iitem_/), refusal: "paid" },
      });
      return {
        refusals: ["now", "now", "later", "now", "now", "now", "paid"],
        ...{ ordered: null, unknown: null, half: soldOut(0) },
        tooFew: [soldOut(0), soldOut(2), soldOut(2, "Summer Night Festival, Balcony")],
        ...{ enough: null, kit: soldOut(1, expect.anything()), lostUpdate: soldOut(2, expect.anything()) },
        ...{ oversoldElsewhere: soldOut(2, expect.anything()), otherChannel: soldOut(2, expect.anything()) },
        // Medusa names the cause.
        noLevel: null,
        ...{ backorder: null, unmanaged: null },
      };
    },
  },
  isOversold: {
    ask: async (f) => {
      const found = [await stock.isOversold(sql, f.cartId), await stock.isOversold(sql, f.readyCartId)];
      await sql("update inventory_level set stocked_quantity = 1", []);
      found.push(await stock.isOversold(sql, f.cartId));
      await sql("update inventory_level set stocked_quantity = 0", []);
      found.push(await stock.isOversold(sql, f.cartId));
      // Another location of the sales channel has one.
      await sql(
        `insert into inventory_level (id, inventory_item_id, location_id, stocked_quantity, reserved_quantity)
         select 'ilev_' || inventory_item_id, inventory_item_id, 'sloc_other', 1, 0 from inventory_level`,
        [],
      );
      found.push(await stock.isOversold(sql, f.cartId));
      await sql(
        `insert into sales_channel_stock_location (id, sales_channel_id, stock_location_id)
         select 'scloc_other', sales_channel_id, 'sloc_other' from cart where id = $1`,
        [f.cartId],
      );
      found.push(await stock.isOversold(sql, f.cartId));
      // Backorders of the same item, at the location where the cart has reserved.
      await sql("update inventory_level set stocked_quantity = 1, reserved_quantity = 11", []);
      found.push(await stock.isOversold(sql, f.cartId));
      await sql("update inventory_level set stocked_quantity = 0", []);
      found.push(await stock.isOversold(sql, f.cartId));
      await sql("update reservation_item set allow_backorder = true", []);
      found.push(await stock.isOversold(sql, f.cartId));
      return found;
    },
    answer: () => [false, false, false, true, true, false, false, true, false],
  },
  findUnknownRefunds: {
    given: (f) => [
      `insert into refund (id, amount, raw_amount, payment_id, metadata, created_at)
       values ('ref_lost', 1, '{"value": "1"}', '${f.bankPaymentId}', '{"a": 1}', now() - interval '1 hour')`,
    ],
    ask: () => unrecorded.findUnknownRefunds(scan),
    answer: (f) => [
      {
        ...{ refundId: "ref_lost", paymentId: f.bankPaymentId, orderId: f.orderId },
        ...{ currency: "eur", amount: "1", metadata: { a: 1 } },
      },
    ],
  },
  isRecorded: {
    ask: ({ orderId, captureId: entryId, giftPaymentId: paymentId }) =>
      unrecorded.isRecorded(sql, { orderId, entryId, paymentId, kind: "capture" }),
    answer: () => true,
  },
};

function paidOrder({ orderId, cartId, giftPaymentId, bankPaymentId }: Facts) {
  const held = [
    { id: giftPaymentId, isGiftcard: true, capturedLeft: "50" },
    { id: bankPaymentId, isGiftcard: false, capturedLeft: null },
  ];
  return expect.objectContaining({
    ...{ orderId, cartId, isCanceled: false, totalCents: 7498, paidCents: 7498, pendingCents: 0 },
    ...{ currency: "eur", currentTotalCents: 7498 },
    paid: [
      {
        ...{ providerId: "pp_giftcard_giftcard", lastFour: expect.stringMatching(/^\d{4}$/) },
        ...{ amountCents: 5000, refundedCents: 0 },
      },
      { providerId: "pp_bank_bank", lastFour: null, amountCents: 2498, refundedCents: 0 },
    ],
    heldPayments: expect.arrayContaining(held),
    openSessionIds: [],
  });
}

test("this file tests each function on Medusa's tables", async () => {
  const files = readdirSync(folder).filter((file) => file !== "scan.ts");
  const modules: object[] = await Promise.all(files.map((file) => import(`${folder}${file}`)));
  const names = modules.flatMap((module) =>
    Object.entries(module).flatMap(([name, value]) => (typeof value === "function" ? [name] : [])),
  );
  expect([...Object.keys(cases), ...fragments, ...others].sort()).toEqual(names.sort());
});

test.each(Object.entries(cases))("%s returns what the store contains", async (_name, one) => {
  await database.query("begin");
  try {
    for (const statement of one.given?.(facts) ?? []) await database.query(statement);
    expect(await one.ask(facts)).toEqual(one.answer(facts));
  } finally {
    await database.query("rollback");
  }
});
