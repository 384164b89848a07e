// @module-tag long

import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runMedusa } from "../../../scripts/shops/medusa-store.mjs";
import { runCommand } from "./support/command-line.js";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { startShop, type TestShop } from "./support/shop.js";

/** The age from which recovery takes over unfinished work. */
const LEASE_MS = 30_000;

let shop: TestShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await startShop({ TEST_RECOVER_BY_HAND: "yes" }, { timeoutMs: 1000, leaseMs: LEASE_MS });
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterEach(() => shop.proxy.clear());
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

const admin = (method: "GET" | "POST", at: string) =>
  shop.storefront.send(method, `/admin/giftcard-pay/${at}`, method === "POST" ? {} : undefined);
const recover = async () => (await admin("POST", "recover")).body;
const statusOf = async (orderId: string) => (await shop.storefront.order(orderId)).status as string;
const logsOf = (orderId: string) =>
  shop.medusa
    .logs()
    .split("\n")
    .filter((line) => line.includes(orderId));

/** Expects that recovery neither cancels nor refunds the order. */
async function expectUntouched(orderId: string): Promise<void> {
  const payments = async () =>
    (
      await database.query(
        `select p.id, p.canceled_at, (select sum(amount) from refund where payment_id = p.id) as refunded
         from payment p join order_payment_collection link using (payment_collection_id) where link.order_id = $1`,
        [orderId],
      )
    ).rows;
  await shop.passTime(LEASE_MS);
  const before = await payments();
  for (let run = 0; run < 2; run += 1) await recover();
  expect(await statusOf(orderId)).not.toBe("canceled");
  expect(await payments()).toEqual(before);
}

const waiting = async (orderId: string) => {
  const { jobs } = (await admin("GET", "jobs")).body;
  return jobs.filter((job: { orderId: string }) => job.orderId === orderId);
};

const pay = (paymentId: string, what: string, body: object = {}) =>
  shop.storefront.ok("POST", `/admin/payments/${paymentId}/${what}`, body);

/** Adds goods to the order, so that its total differs from what was paid. */
async function edit(orderId: string): Promise<void> {
  const { storefront } = shop;
  const { order } = await storefront.ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
  await storefront.ok("POST", "/admin/order-edits", { order_id: orderId });
  await storefront.ok("POST", `/admin/order-edits/${orderId}/items/item/${order.items[0].id}`, {
    quantity: 2,
  });
  await storefront.ok("POST", `/admin/order-edits/${orderId}/confirm`, {});
}

async function fulfill(orderId: string): Promise<void> {
  const { storefront } = shop;
  const { order } = await storefront.ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
  const { stock_locations } = await storefront.ok("GET", "/admin/stock-locations");
  await storefront.ok("POST", `/admin/orders/${orderId}/fulfillments`, {
    items: [{ id: order.items[0].id, quantity: 1 }],
    location_id: stock_locations[0].id,
  });
}

/** Loses the response for the card; the shopper pays all 74.98 by the bank, as the page advises. */
async function buyBesideUndecidedCard(): Promise<{ orderId: string; otherId: string }> {
  const { storefront, service, proxy } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  proxy.withoutExtension(true);
  proxy.set("devalue", "cut-after", 1);
  expect((await storefront.complete(cartId)).body).toMatchObject({ code: "outcome_unknown" });
  await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  const { others } = paymentsOf(await storefront.order(body.order.id));
  expect(others.map(({ amount }) => amount)).toEqual([74.98]);
  const noted = "select from giftcard_order where order_id = $1 and paid_at is not null";
  const count = async () => (await database.query(noted, [body.order.id])).rowCount;
  await expect.poll(count).toBe(1);
  return { orderId: body.order.id, otherId: others[0].id };
}

describe("an order paid by the bank, with a card whose charge has an unknown outcome", () => {
  // Medusa itself voids an authorization when an edit raises the order's total.
  test("edited to a higher total: not canceled, and no person is asked", async () => {
    const { orderId } = await buyBesideUndecidedCard();
    await edit(orderId);
    await expectUntouched(orderId);
    expect(await waiting(orderId)).toEqual([]);
  });

  test("edited without a record that it was paid: a person is asked", { tags: "long" }, async () => {
    const { orderId } = await buyBesideUndecidedCard();
    await edit(orderId);
    await database.query("delete from giftcard_order where order_id = $1", [orderId]);
    await expectUntouched(orderId);
    expect(await waiting(orderId)).toMatchObject([{ why: [{ code: "edited" }] }]);
  });

  test("captured and edited without a record: its total at placement counts", { tags: "long" }, async () => {
    const { orderId, otherId } = await buyBesideUndecidedCard();
    await pay(otherId, "capture");
    await edit(orderId);
    await database.query("delete from giftcard_order where order_id = $1", [orderId]);
    await expectUntouched(orderId);
    const noted = "select total_cents from giftcard_order where order_id = $1 and paid_at is not null";
    expect((await database.query(noted, [orderId])).rows).toEqual([{ total_cents: "7498" }]);
  });

  test("captured and 5.00 refunded: not canceled or refunded further", { tags: "long" }, async () => {
    const { orderId, otherId } = await buyBesideUndecidedCard();
    await pay(otherId, "capture");
    await pay(otherId, "refund", { amount: 5 });
    await expectUntouched(orderId);
    expect(figuresOf(await shop.storefront.order(orderId))).toMatchObject({ refunded: 5 });
  });

  test("fulfilled, captured and edited: not refunded", { tags: "long" }, async () => {
    const { orderId, otherId } = await buyBesideUndecidedCard();
    await fulfill(orderId);
    await pay(otherId, "capture");
    await edit(orderId);
    await expectUntouched(orderId);
  });
});

test("an order is recorded as paid with its total when it is placed", async () => {
  const { storefront, service } = shop;
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, await service.issueCard({ balanceCents: 7500 }));
  await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  const noted = async () =>
    (
      await database.query("select cart_id, total_cents, paid_at from giftcard_order where order_id = $1", [
        body.order.id,
      ])
    ).rows;
  await expect.poll(noted).toEqual([{ cart_id: cartId, total_cents: "7498", paid_at: expect.any(Date) }]);
});

test("recovery that deletes an unfinished credit line does not report its order as canceled", {
  tags: "long",
}, async () => {
  const { storefront, service } = shop;
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, await service.issueCard({ balanceCents: 7500 }));
  await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  const orderId: string = body.order.id;
  await shop.passTime(LEASE_MS);
  // The change that Medusa leaves if it crashes before it writes the credit line's amount.
  await database.query(
    `insert into order_change (id, order_id, version, status, change_type, created_at)
     values ('ordch_crashed', $1, 2, 'pending', 'credit_line', now() - interval '1 hour')`,
    [orderId],
  );
  expect(await recover()).toMatchObject({ canceledOrderIds: [] });
  expect(await waiting(orderId)).toEqual([]);
  const left = "select id from order_change where id = 'ordch_crashed' and deleted_at is null";
  expect((await database.query(left)).rowCount).toBe(0);
  expect(await statusOf(orderId)).not.toBe("canceled");
});

/**
 * Places orders for 74.98 whose bank payment was never made, each with an uncharged card on its cart, so that recovery
 * finds all of them in one run.
 */
async function leaveUnpaid(count = 1, first: (orderIds: string[]) => Promise<void> = async () => {}) {
  const { storefront } = shop;
  const orderIds: string[] = [];
  const cartIds: string[] = [];
  for (let one = 0; one < count; one += 1) {
    const cartId = await storefront.createCart();
    await storefront.initiate(cartId);
    const { body } = await storefront.complete(cartId);
    orderIds.push(body.order.id);
    cartIds.push(cartId);
  }
  await first(orderIds);
  const undone = await database.query(
    `update payment set canceled_at = now() where payment_collection_id in
       (select payment_collection_id from order_payment_collection where order_id = any($1::text[]))`,
    [orderIds],
  );
  expect(undone.rowCount).toBe(count);
  await shop.passTime(LEASE_MS);
  await database.query(
    `insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, expires_at)
     select 'gct_' || id, id, 'applied', '0000', id, 5000, now() + interval '1 hour' from unnest($1::text[]) id`,
    [cartIds],
  );
  return { orderIds, orderId: String(orderIds[0]), cartId: String(cartIds[0]) };
}

test("an unpaid order is found behind 120 orders whose charges have unknown outcomes", { tags: "long" }, async () => {
  // A bank paid each of these, so recovery has nothing to do with them.
  await database.query(`
    create temporary table past as select i, lpad(i::text, 3, '0') as n from generate_series(1, 120) i;
    insert into "order" (id, currency_code, status, created_at)
      select '0order_' || n, 'eur', 'pending', now() - interval '1 hour' from past;
    insert into order_summary (id, order_id, version, totals)
      select 'ordsum_' || n, '0order_' || n, 1, '{"raw_current_order_total": {"value": "25"}}' from past;
    insert into order_cart (id, order_id, cart_id) select 'oc_' || n, '0order_' || n, '0cart_' || n from past;
    insert into payment_collection (id, currency_code, amount, raw_amount, status)
      select 'pc_' || n, 'eur', 25, '{"value": "25"}', 'authorized' from past;
    insert into order_payment_collection (id, order_id, payment_collection_id)
      select 'opc_' || n, '0order_' || n, 'pc_' || n from past;
    insert into payment_session (id, currency_code, amount, raw_amount, provider_id, data, status, payment_collection_id)
      select 'ps_' || n, 'eur', 25, '{"value": "25"}', 'pp_bank_bank', '{}', 'authorized', 'pc_' || n from past;
    insert into payment (id, currency_code, amount, raw_amount, provider_id, data, payment_collection_id, payment_session_id)
      select 'p_' || n, 'eur', 25, '{"value": "25"}', 'pp_bank_bank', '{}', 'pc_' || n, 'ps_' || n from past;
    insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, expires_at)
      select 'gct_' || n, '0cart_' || n, 'charging', '0000', n, 5000, now() + interval '1 hour' from past;
    insert into giftcard_charge (reference, tender_id, cart_id, external_id, environment, base_url, company_id, state,
        last_four, amount_cents, balance_before_cents, reason)
      select 'gc_' || n, 'gct_' || n, '0cart_' || n, 'gs_' || n, 'sandbox', 'http://127.0.0.1:1', 1, 'needs_attention',
        '0000', 1000, 5000, 'outcome_unknown' from past;
    drop table past;`);
  const { orderId } = await leaveUnpaid();
  await recover();
  expect(await statusOf(orderId)).toBe("canceled");
  const noted = await database.query(
    "select from giftcard_order where order_id like '0order_%' and paid_at is not null",
  );
  expect(noted.rowCount).toBe(120);
});

describe("an order that was never paid", () => {
  test("is canceled, and announced with the reason", async () => {
    const { orderId, cartId } = await leaveUnpaid();
    await recover();
    const told = () => logsOf(orderId).filter((line) => line.startsWith("EVENT"));
    await expect.poll(told).toEqual([
      `EVENT ${JSON.stringify({
        name: "giftcard.order_canceled",
        data: { order_id: orderId, cart_id: cartId, reason: "unpaid" },
      })}`,
    ]);
  });

  test("and was edited: waits for a person", { tags: "long" }, async () => {
    const { orderId } = await leaveUnpaid(1, ([one]) => edit(String(one)));
    await recover();
    expect(await statusOf(orderId)).toBe("pending");
    expect(await waiting(orderId)).toMatchObject([{ kind: "cancel_order", why: [{ code: "edited" }] }]);
    const { stdout } = await runCommand(shop.databaseUrl, "status");
    expect(stdout).toContain(`job    cancel_order ${orderId}: The order was edited`);
    const { failingJobs } = (await admin("GET", "health")).body;
    expect((await admin("POST", `jobs/cancel_order/${orderId}/exempt`)).status).toBe(200);
    expect((await admin("GET", "health")).body).toMatchObject({ failingJobs: failingJobs - 1 });
    await recover();
    expect(await statusOf(orderId)).toBe("pending");
    expect(await waiting(orderId)).toEqual([]);
  });

  test("and fails to cancel: is listed with attempts and error until a retry succeeds", { tags: "long" }, async () => {
    const { orderId } = await leaveUnpaid(1, async ([one]) => {
      await database.query(`create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'the disk is full'; end $$;
        create trigger refuse before update on "order" for each row when (new.id = '${one}') execute function refuse()`);
    });
    await recover();
    const before = (await admin("GET", "health")).body.failingJobs;
    const [first] = await waiting(orderId);
    expect(first).toMatchObject({
      ...{ kind: "cancel_order", id: orderId, orderId, orderName: expect.stringMatching(/^#\d+$/) },
      lastError: expect.any(String),
    });
    await recover();
    const jobs = await waiting(orderId);
    expect(jobs[0].tries).toBeGreaterThan(first.tries);
    expect(jobs[0].firstFailedAt).toBe(first.firstFailedAt);
    const failed = await admin("POST", `jobs/cancel_order/${orderId}/retry`);
    expect(failed.body.job.tries).toBeGreaterThan(jobs[0].tries);
    await database.query("drop function refuse cascade");
    expect(await admin("POST", `jobs/cancel_order/${orderId}/retry`)).toMatchObject({ body: { job: null } });
    expect(await statusOf(orderId)).toBe("canceled");
    expect((await admin("GET", "health")).body).toMatchObject({ failingJobs: before - 1 });
    expect((await admin("POST", `jobs/cancel_order/${orderId}/retry`)).status).toBe(400);
  });

  test("if more orders look unpaid than the limit: none is canceled until a person has tried enough of them again", {
    tags: "long",
  }, async () => {
    await shop.crash();
    await shop.restart({ maxCancelsPerRun: 2 });
    // Two orders need a person, and one of them is exempted: neither counts.
    const forPerson = await leaveUnpaid(2, async (ids) => {
      for (const id of ids) await edit(id);
    });
    await recover();
    expect((await admin("POST", `jobs/cancel_order/${forPerson.orderId}/exempt`)).status).toBe(200);
    const { orderIds } = await leaveUnpaid(4);
    const canceled = async () => {
      await recover();
      const statuses = await Promise.all(orderIds.map(statusOf));
      return statuses.filter((status) => status === "canceled").length;
    };
    expect(await canceled()).toBe(0);
    expect(await canceled()).toBe(0);
    const stopped = async () => {
      const { jobs } = (await admin("GET", "jobs")).body;
      return jobs.filter(({ why }: { why: { code: string }[] | null }) => why?.[0]?.code === "cancelsStopped");
    };
    expect(await stopped()).toHaveLength(4);
    expect(shop.medusa.logs().match(/job=cancel_order .*More orders look unpaid at once/g)).toHaveLength(4);
    // A person can look at each of them, and cancel it alone.
    const [{ id: one }] = await stopped();
    expect(await admin("POST", `jobs/cancel_order/${one}/retry`)).toMatchObject({ body: { job: null } });
    expect(await statusOf(one)).toBe("canceled");
    // Three are left: one above the limit. Canceled orders don't count.
    expect(await canceled()).toBe(1);
    const [{ id: two }] = await stopped();
    expect((await admin("POST", `jobs/cancel_order/${two}/exempt`)).status).toBe(200);
    expect(await canceled()).toBe(3);
    expect(await statusOf(two)).not.toBe("canceled");
    expect(await stopped()).toEqual([]);
    // With the option raised, as many are canceled at once.
    await shop.crash();
    await shop.restart({ maxCancelsPerRun: 3 });
    const more = await leaveUnpaid(3);
    await recover();
    const after = await Promise.all(more.orderIds.map(statusOf));
    expect(after).toEqual(["canceled", "canceled", "canceled"]);
  });
});

/** A charge booked with another amount than was taken, a state that can no longer arise. */
async function bookOtherwise() {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  const orderId: string = body.order.id;
  const { gifts } = paymentsOf(await storefront.order(orderId));
  await pay(gifts[0].id, "capture");
  // Disables the triggers that reject this.
  await database.query("set session_replication_role = replica");
  for (const [table, column] of [
    ["payment", "id"],
    ["capture", "payment_id"],
  ])
    await database.query(
      `update ${table} set amount = 20, raw_amount = '{"value": "20", "precision": 20}' where ${column} = $1`,
      [gifts[0].id],
    );
  await database.query(`update "order" set canceled_at = now(), status = 'canceled' where id = $1`, [orderId]);
  await database.query("reset session_replication_role");
  return { card, orderId };
}

describe("a canceled order whose payment differs from the card's charge", () => {
  const refunds = async (orderId: string) => {
    const { gifts } = paymentsOf(await shop.storefront.order(orderId));
    return gifts[0].refunds.map(({ amount }: { amount: number }) => amount);
  };

  test("the card is reversed, and the payment refunded as booked", { tags: "long" }, async () => {
    const { card, orderId } = await bookOtherwise();
    await recover();
    expect(await shop.balanceCents(card)).toBe(7500);
    expect(await refunds(orderId)).toEqual([20]);
  });

  test("if Medusa fails to refund, the card is reversed anyway; a person sees the failure and can dismiss it", {
    tags: "long",
  }, async () => {
    await database.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'the disk is full'; end $$;
      create trigger refuse before insert on refund for each row execute function refuse()`);
    const { card, orderId } = await bookOtherwise();
    await recover();
    expect(await shop.balanceCents(card)).toBe(7500);
    const failing = async () => {
      const { jobs } = (await admin("GET", "jobs")).body;
      return jobs.filter((job: { orderId: string }) => job.orderId === orderId);
    };
    const [job] = await failing();
    expect(job).toMatchObject({ kind: "reverse", lastError: expect.any(String) });
    expect((await admin("POST", `jobs/reverse/${job.id}/exempt`)).status).toBe(200);
    await database.query("drop function refuse cascade");
    await recover();
    expect(await failing()).toEqual([]);
    expect(await refunds(orderId)).toEqual([]);
    const { rows } = await database.query("select exempted_by from giftcard_job where id = $1", [job.id]);
    expect(rows[0].exempted_by).toContain(shop.medusa.admin.email);
  });
});

test("retrying a charge with unknown outcome does not reverse another card of the paid order", {
  tags: "long",
}, async () => {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  // The state after a completion crashed past its last payment, with an earlier charge whose response was lost.
  await database.query(
    `update giftcard_charge set state = 'devalued', order_id = null, lease_owner = 'dead',
       lease_until = now() - interval '1 hour', next_try_at = now() where cart_id = $1`,
    [cartId],
  );
  await database.query(
    `insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, expires_at)
     values ('gct_lost', $1, 'removed', '0000', 'lost', 5000, now() + interval '1 hour')`,
    [cartId],
  );
  await database.query(
    `insert into giftcard_charge (reference, tender_id, cart_id, external_id, environment, base_url, company_id, state,
       last_four, amount_cents, balance_before_cents, tries, next_try_at)
     select 'gc_lost', 'gct_lost', cart_id, 'payses_lost', environment, base_url, company_id, 'unknown', '0000', 1000,
       5000, 1, now() + interval '1 day' from giftcard_charge where cart_id = $1`,
    [cartId],
  );
  expect((await admin("POST", "recover")).status).toBe(200);
  const { rows } = await database.query(
    "select state, order_id from giftcard_charge where cart_id = $1 order by created_at, reference",
    [cartId],
  );
  expect(rows).toEqual([
    { state: "committed", order_id: body.order.id },
    { state: "refused", order_id: null },
  ]);
  expect(await shop.balanceCents(card)).toBe(2500);
});

test("a failure to look for work stays listed and can't be dismissed", async () => {
  await database.query("insert into giftcard_job (kind, id, last_error) values ('scan', 'test', 'down')");
  expect((await admin("POST", "jobs/scan/test/exempt")).status).toBe(400);
  expect((await admin("GET", "jobs")).body.jobs).toContainEqual(expect.objectContaining({ kind: "scan", id: "test" }));
  await database.query("delete from giftcard_job where kind = 'scan' and id = 'test'");
});

describe("on the command line", () => {
  test("status lists open money and what stays, and db:rollback is rejected while money is open", {
    tags: "long",
  }, async () => {
    const listed = await runCommand(shop.databaseUrl, "status", "--json");
    expect(listed.exitCode).toBe(1);
    const { open, stays, isEmpty } = JSON.parse(listed.stdout);
    expect(isEmpty).toBe(false);
    expect(open.charges.needs_attention.count).toBeGreaterThan(0);
    expect(stays).toMatchObject({ captured: { count: 0 }, decisions: expect.any(Number) });
    expect((await runCommand(shop.databaseUrl, "status")).stdout).toMatch(/^open {3}\d+ charges/);
    const appDir = path.resolve(import.meta.dirname, "store");
    const rollback = runMedusa(["db:rollback", "giftcard"], { databaseUrl: shop.databaseUrl, appDir });
    await expect(rollback).rejects.toThrow(
      /hold open money: \d+ charges that are not settled.*giftcard-medusa status/s,
    );
    const { rows } = await database.query("select count(*) from pg_tables where tablename like 'giftcard_%'");
    expect(Number(rows[0].count)).toBeGreaterThan(8);
  });
});
