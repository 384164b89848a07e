// @module-tag long
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { refundOf } from "./support/order-admin.js";
import { startShop, type TestShop } from "./support/shop.js";

const LEASE_MS = 30_000;

let shop: TestShop;
beforeAll(async () => {
  shop = await startShop(
    { TEST_RECOVER_OFTEN: "yes" },
    { allowPromisedRemainder: true, promisedRemainderMs: 24 * 60 * 60_000, leaseMs: LEASE_MS },
  );
});
afterAll(() => shop?.stop());

/** Orders for 74.98: 50.00 from a card, and 24.98 pending at the bank. */
async function order(data: Record<string, unknown> = { behaviour: "pending_authorization" }) {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  const { body } = await storefront.initiate(cartId, "pp_bank_bank", data);
  const sessionId = body.payment_collection.payment_sessions[0].id as string;
  const completed = await storefront.complete(cartId);
  expect(completed.body).toMatchObject({ type: "order" });
  expect(await shop.balanceCents(card)).toBe(2500);
  return { card, cartId, sessionId, orderId: completed.body.order.id as string };
}

async function tell(action: string, sessionId: string, more: object = {}) {
  const response = await fetch(`${shop.medusa.url}/hooks/payment/bank_bank`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action, session_id: sessionId, amount: 24.98, ...more }),
  });
  expect(response.status).toBe(200);
}

/** Waits until the webhook's session was found to be deleted. */
async function expectNoSession(sessionId: string): Promise<void> {
  const isTold = () => shop.medusa.logs().includes(`for the deleted payment session ${sessionId}`);
  await expect.poll(isTold, { interval: 50 }).toBe(true);
}

const statusOf = async (orderId: string) => (await shop.storefront.order(orderId)).status;

/** Runs recovery several times and expects that it leaves the order and the card alone. */
async function expectKept({ card, orderId }: Awaited<ReturnType<typeof order>>) {
  for (let run = 0; run < 3; run++) await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  expect(await statusOf(orderId)).toBe("pending");
  expect(await shop.balanceCents(card)).toBe(2500);
}

test("settling later: the order is placed, and paid when the bank confirms", async () => {
  const placed = await order();
  expect(paymentsOf(await shop.storefront.order(placed.orderId)).amounts).toEqual([50]);
  await expectKept(placed);
  await tell("captured", placed.sessionId);
  const amounts = async () => paymentsOf(await shop.storefront.order(placed.orderId)).amounts;
  await expect.poll(amounts).toEqual([50, 24.98]);
  const { gifts } = paymentsOf(await shop.storefront.order(placed.orderId));
  await shop.storefront.ok("POST", `/admin/payments/${gifts[0].id}/capture`, {});
  const figures = async () => figuresOf(await shop.storefront.order(placed.orderId));
  await expect.poll(figures).toMatchObject({ total: 74.98, payment_status: "captured" });
  expect(await shop.balanceCents(placed.card)).toBe(2500);
});

test("known from the start to settle later: the order is placed, and paid when the bank confirms", {
  tags: "long",
}, async () => {
  const placed = await order({ initially: "pending_authorization", behaviour: "pending_authorization" });
  await tell("authorized", placed.sessionId);
  const amounts = async () => paymentsOf(await shop.storefront.order(placed.orderId)).amounts;
  await expect.poll(amounts).toEqual([50, 24.98]);
});

test.each(["failed", "canceled"])(
  "the bank reports later that it %s: the order is canceled and the card reversed",
  async (action) => {
    const placed = await order();
    await tell(action, placed.sessionId);
    await expect.poll(() => statusOf(placed.orderId)).toBe("canceled");
    expect(await shop.balanceCents(placed.card)).toBe(7500);
    // A late payment no longer finds its session.
    await tell("captured", placed.sessionId);
    await expectNoSession(placed.sessionId);
    expect(paymentsOf(await shop.storefront.order(placed.orderId)).others).toEqual([]);
  },
);

test("a late webhook about an earlier try doesn't cancel the order", async () => {
  const placed = await order();
  await tell("failed", placed.sessionId, { isLate: true });
  await expectKept(placed);
  await tell("captured", placed.sessionId);
  const amounts = async () => paymentsOf(await shop.storefront.order(placed.orderId)).amounts;
  await expect.poll(amounts).toEqual([50, 24.98]);
});

test("is never refunded around: a refund of everything is refused until the order is canceled, or paid", async () => {
  const { storefront } = shop;
  const placed = await order();
  const path = `/admin/giftcard-pay/orders/${placed.orderId}/refund`;
  const why = [{ code: "pending" }];
  const { rest, captureCents } = await refundOf(storefront, placed.orderId);
  expect(rest).toMatchObject({ amountCents: 5000, parts: [], why });
  const { status, body } = await storefront.send("POST", path, { ...rest, captureCents, isRest: true });
  const said = expect.stringMatching(/other payment is still pending.*cancel the order instead/);
  expect([status, body.message]).toEqual([400, said]);
  const wish = { orderIds: [placed.orderId], capture: true };
  expect((await storefront.ok("POST", "/admin/giftcard-pay/refund-plan", wish)).plan).toMatchObject({
    orders: [],
    refused: [{ orderId: placed.orderId, why }],
  });
  expect(await shop.balanceCents(placed.card)).toBe(2500);
  await tell("captured", placed.sessionId);
  const amounts = async () => paymentsOf(await storefront.order(placed.orderId)).amounts;
  await expect.poll(amounts).toEqual([50, 24.98]);
  const now = await refundOf(storefront, placed.orderId);
  await storefront.ok("POST", path, { ...now.rest, captureCents: now.captureCents, isRest: true });
  expect(figuresOf(await storefront.order(placed.orderId))).toMatchObject({
    paid: 74.98,
    refunded: 74.98,
    outstanding: 0,
  });
  expect(await shop.balanceCents(placed.card)).toBe(7500);
});

test("a person cancels the order: the pending remainder can no longer be paid", { tags: "long" }, async () => {
  const placed = await order();
  await shop.storefront.ok("POST", `/admin/orders/${placed.orderId}/cancel`, {});
  expect(await shop.balanceCents(placed.card)).toBe(7500);
  const database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  const statement = "select 1 from payment_session where id = $1 and deleted_at is null";
  const count = async () => (await database.query(statement, [placed.sessionId])).rowCount;
  await expect
    .poll(count, { interval: 500 })
    .toBe(0)
    .finally(() => database.end());
  await tell("captured", placed.sessionId);
  await expectNoSession(placed.sessionId);
  expect(paymentsOf(await shop.storefront.order(placed.orderId)).others).toEqual([]);
});

test("a person cancels the order while the bank pays: the bank's money is refunded", { tags: "long" }, async () => {
  const placed = await order();
  await shop.storefront.ok("POST", `/admin/orders/${placed.orderId}/cancel`, {});
  await tell("captured", placed.sessionId);
  const kept = async () => {
    const { others } = paymentsOf(await shop.storefront.order(placed.orderId));
    return others.map(
      ({ amount, refunds }) => amount - refunds.reduce((sum: number, r: { amount: number }) => sum + r.amount, 0),
    );
  };
  // Either the bank's payment arrives first and is refunded, or its session is deleted.
  const isGone = () => shop.medusa.logs().includes(`PaymentSession with id: ${placed.sessionId} was not found`);
  await expect.poll(async () => isGone() || (await kept()).length > 0, { interval: 50 }).toBe(true);
  await shop.passTime(LEASE_MS);
  await expect.poll(async () => (await kept()).every((amount) => amount === 0), { interval: 500 }).toBe(true);
  expect(await shop.balanceCents(placed.card)).toBe(7500);
});

test("the bank never responds: the order is canceled after the time limit and the card reversed", {
  tags: "long",
}, async () => {
  const placed = await order();
  const database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  const moved = await database.query(
    "update payment_session set created_at = created_at - interval '25 hours' where id = $1",
    [placed.sessionId],
  );
  await database.end();
  expect(moved.rowCount).toBe(1);
  await expect.poll(() => statusOf(placed.orderId), { interval: 500 }).toBe("canceled");
  expect(await shop.balanceCents(placed.card)).toBe(7500);
});

test("killed between the bank's promise and the page's response: the order keeps the card", {
  tags: "long",
}, async () => {
  const { storefront, service, proxy } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId, "pp_bank_bank", { behaviour: "pending_authorization" });
  // Committing the charge to the order blocks on the database while Medusa crashes.
  const database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  await database.query(`create function never_commit() returns trigger language plpgsql as $$
    begin perform pg_sleep(5); raise exception 'never committed'; end $$`);
  await database.query(`create trigger never_commit before update on giftcard_charge for each row
    when (new.state = 'committed') execute function never_commit()`);
  const call = storefront.complete(cartId).catch(() => null);
  const promised = async () =>
    (
      await database.query(
        `select from payment_session s join cart_payment_collection using (payment_collection_id)
         where cart_id = $1 and s.status = 'pending_authorization'`,
        [cartId],
      )
    ).rowCount;
  await expect.poll(promised, { interval: 100 }).toBe(1);
  await shop.crash();
  await call;
  await database.query("drop function never_commit cascade");
  await shop.passTime(LEASE_MS);
  await shop.restart();
  const state = async () =>
    (await database.query("select state from giftcard_charge where cart_id = $1", [cartId])).rows[0].state;
  await expect.poll(state, { interval: 500 }).toBe("committed");
  await database.end();
  expect(await shop.balanceCents(card)).toBe(2500);
  expect(proxy.seen.filter(({ operation }) => operation === "canceldevalue").length).toBeGreaterThan(0);
});
