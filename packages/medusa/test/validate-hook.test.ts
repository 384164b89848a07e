// @module-tag long
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { figuresOf, livingAmountsOf, paymentsOf } from "./support/figures.js";
import { startShop, type TestPeer, type TestShop } from "./support/shop.js";

/** Another plugin took `beforePaymentAuthorization`, so the cards are charged in `validate`, before an order exists. */
const env = {
  TEST_TAKE_HOOKS: "beforePaymentAuthorization",
  TEST_FAILING_HOOK: "beforePaymentAuthorization",
  TEST_RECOVER_OFTEN: "yes",
};
const LEASE_MS = 4000;

let shop: TestShop;
let peer: TestPeer;
let database: pg.Client;
beforeAll(async () => {
  shop = await startShop(env, { charges: null, timeoutMs: 3000, leaseMs: LEASE_MS });
  peer = await shop.startPeer();
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterEach(async () => {
  shop.proxy.clear();
  await shop.proxy.release();
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

/** A cart for 74.98 with a card of 75.00 and a session for the remainder. */
async function readyCart(data?: Record<string, unknown>) {
  const card = await shop.service.issueCard({ balanceCents: 7500 });
  const cartId = await shop.storefront.createCart();
  await shop.storefront.apply(cartId, card);
  await shop.storefront.initiate(cartId, "pp_bank_bank", data);
  return { card, cartId };
}

const statesOf = async (cartId: string) => {
  const { rows } = await database.query("select state from giftcard_charge where cart_id = $1", [cartId]);
  return rows.map(({ state }) => state as string).sort();
};

const ordersOf = async (cartId: string) => {
  const { rows } = await database.query(
    `select o.id, o.status::text from order_cart link join "order" o on o.id = link.order_id
     where link.cart_id = $1 and link.deleted_at is null`,
    [cartId],
  );
  return rows as { id: string; status: string }[];
};
const livingOrders = async (cartId: string) =>
  (await ordersOf(cartId)).filter(({ status }) => status !== "canceled").length;

const heldByBank = async (cartId: string) => {
  const { rows } = await database.query(
    `select payment.id from payment join cart_payment_collection link using (payment_collection_id)
     where link.cart_id = $1 and payment.canceled_at is null and payment.deleted_at is null`,
    [cartId],
  );
  return rows.length;
};

/** Expects no order to ship, no money held by any method, and the card's full balance. */
async function expectVoided({ card, cartId }: Awaited<ReturnType<typeof readyCart>>) {
  const within = { interval: 300 };
  await expect.poll(() => shop.balanceCents(card), within).toBe(7500);
  await expect.poll(() => livingOrders(cartId), within).toBe(0);
  await expect.poll(() => heldByBank(cartId), within).toBe(0);
}

/** Freezes a process at a given point until the other process resolved its work, then resumes it. */
async function freeze(
  { cartId }: Awaited<ReturnType<typeof readyCart>>,
  when: () => Promise<void>,
  until: () => Promise<void>,
) {
  const call = shop.storefront.complete(cartId).catch(() => null);
  await when();
  process.kill(shop.medusa.pid, "SIGSTOP");
  try {
    await shop.proxy.release();
    await until();
  } finally {
    process.kill(shop.medusa.pid, "SIGCONT");
  }
  return call;
}

const within = { interval: 300 };

test("an order can be paid, captured and canceled", async () => {
  const { storefront } = shop;
  const { card, cartId } = await readyCart();
  const completed = await storefront.complete(cartId);
  expect(completed.body.type).toBe("order");
  expect(await shop.balanceCents(card)).toBe(2500);
  const orderId = completed.body.order.id;
  const order = await storefront.order(orderId);
  expect(figuresOf(order)).toMatchObject({
    total: 74.98,
    paid: 0,
    outstanding: 74.98,
    payment_status: "authorized",
  });
  expect(paymentsOf(order).amounts).toEqual([50, 24.98]);
  for (const { id } of order.payment_collections[0].payments)
    await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  expect(figuresOf(await storefront.order(orderId))).toMatchObject({
    paid: 74.98,
    outstanding: 0,
    payment_status: "captured",
  });
  expect((await storefront.complete(cartId)).body).toMatchObject({ type: "order", order: { id: orderId } });
  await storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
  expect(await shop.balanceCents(card)).toBe(7500);

  const declined = await readyCart({ behaviour: "error" });
  expect((await storefront.complete(declined.cartId)).body.type).not.toBe("order");
  expect(await shop.balanceCents(declined.card)).toBe(7500);
  await storefront.initiate(declined.cartId);
  expect((await storefront.complete(declined.cartId)).body.type).toBe("order");
  expect(await shop.balanceCents(declined.card)).toBe(2500);

  const covered = await storefront.createCart("open-air-cinema");
  await storefront.apply(covered, declined.card);
  expect((await storefront.complete(covered)).body.type).toBe("order");
  expect(await shop.balanceCents(declined.card)).toBe(500);
});

test("if the other plugin fails, the card is reversed", async () => {
  const { card, cartId } = await readyCart();
  await database.query("create table fail_hook ()");
  const completed = await shop.storefront.complete(cartId);
  await database.query("drop table fail_hook");
  expect(completed).toMatchObject({ status: 400, body: { message: "Another plugin said no." } });
  expect(await shop.balanceCents(card)).toBe(7500);
});

test("stalled past its lease while charging the card: nothing stays charged or ordered", async () => {
  const ready = await readyCart();
  shop.proxy.set("devalue", "hold", 1);
  const before = shop.proxy.seen.length;
  const isCharging = () => shop.proxy.seen.slice(before).some(({ operation }) => operation === "devalue");
  const answer = await freeze(
    ready,
    () => expect.poll(isCharging).toBe(true),
    () => expect.poll(() => statesOf(ready.cartId), within).toEqual(["reversed"]),
  );
  expect(answer?.body?.type).not.toBe("order");
  await expectVoided(ready);
});

test("stalled while charging, and another process places the order: that order stays paid", async () => {
  const { card, cartId } = await readyCart();
  shop.proxy.set("devalue", "hold", 1);
  const before = shop.proxy.seen.length;
  const isCharging = () => shop.proxy.seen.slice(before).some(({ operation }) => operation === "devalue");
  let orderId = "";
  const answer = await freeze(
    { card, cartId },
    () => expect.poll(isCharging).toBe(true),
    async () => {
      await shop.passTime(LEASE_MS);
      await expect.poll(() => statesOf(cartId), within).toEqual(["reversed"]);
      const { body } = await peer.storefront.complete(cartId);
      expect(body, JSON.stringify(body)).toMatchObject({ type: "order" });
      orderId = body.order.id;
    },
  );
  expect(answer?.body?.order?.id ?? orderId).toBe(orderId);
  expect(await ordersOf(cartId)).toEqual([{ id: orderId, status: "pending" }]);
  expect(livingAmountsOf(await peer.storefront.order(orderId))).toEqual([50, 24.98]);
  expect(await shop.balanceCents(card)).toBe(2500);
});

test("stalled past its lease while authorizing the remainder: the order is canceled, and the bank's hold released", async () => {
  const ready = await readyCart({ behaviour: "slow" });
  await freeze(
    ready,
    () => expect.poll(() => shop.medusa.logs(), { interval: 50 }).toContain("the bank takes its time"),
    async () => {
      await expect.poll(() => statesOf(ready.cartId), within).toEqual(["reversed"]);
      await expect.poll(() => livingOrders(ready.cartId), within).toBe(0);
    },
  );
  await expectVoided(ready);
  // It does not reappear either.
  for (let run = 0; run < 3; run++) await peer.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  await expectVoided(ready);
});

test("two processes complete the same cart at once: one order, charged once, and both return it", async () => {
  for (const delayMs of [0, 0, 30, 100]) {
    const { card, cartId } = await readyCart();
    const [one, other] = await Promise.all([
      shop.storefront.complete(cartId),
      new Promise((resolve) => setTimeout(resolve, delayMs)).then(() => peer.storefront.complete(cartId)),
    ]);
    expect(one.body, JSON.stringify(one.body)).toMatchObject({ type: "order" });
    expect(other.body, JSON.stringify(other.body)).toMatchObject({ order: { id: one.body.order.id } });
    expect(await ordersOf(cartId)).toEqual([{ id: one.body.order.id, status: "pending" }]);
    await expect.poll(() => statesOf(cartId), within).toEqual(["committed"]);
    expect(await shop.balanceCents(card)).toBe(2500);
  }
});

test("requires an action and continues in the same session: the card is charged again, once", async () => {
  const { card, cartId } = await readyCart({ behaviour: "asks" });
  const asked = await shop.storefront.complete(cartId);
  // Medusa itself authorizes the remainder here and responds as it does without gift cards.
  expect(asked.body.type).not.toBe("order");
  expect(await shop.balanceCents(card)).toBe(7500);
  const { body } = await shop.storefront.complete(cartId);
  expect(body, JSON.stringify(body)).toMatchObject({ type: "order" });
  await expect.poll(() => statesOf(cartId), within).toEqual(["committed", "reversed"]);
  expect(await shop.balanceCents(card)).toBe(2500);
  expect(livingAmountsOf(await shop.storefront.order(body.order.id))).toEqual([50, 24.98]);
});

test("a charge whose order is committed while its session is deleted stays charged", async () => {
  const { card, cartId } = await readyCart();
  const giftSessions = async () => {
    const sql = `select s.status::text, s.deleted_at from payment_session s
      join cart_payment_collection link using (payment_collection_id)
      where link.cart_id = $1 and s.provider_id = 'pp_giftcard_giftcard'`;
    return (await database.query(sql, [cartId])).rows;
  };
  // The process dies after it charged the card, and before it creates the order.
  await database.query('begin; lock table "order" in share mode');
  void peer.storefront.complete(cartId).catch(() => null);
  await expect.poll(giftSessions).toEqual([{ status: "authorized", deleted_at: null }]);
  await peer.medusa.kill();
  await database.query(
    `select pg_terminate_backend(pid) from pg_locks where not granted and relation = '"order"'::regclass`,
  );
  await database.query("commit");
  // Recovery leaves the charge alone.
  await database.query("update giftcard_charge set lease_until = now() + interval '1 hour' where cart_id = $1", [
    cartId,
  ]);
  await database.query("delete from giftcard_cart_lease where cart_id = $1", [cartId]);
  await database.query(`create function commit_it() returns trigger language plpgsql as $$ begin
    update giftcard_charge set state = 'committed', order_id = 'order_late', updated_at = now() + interval '1 hour'
      where external_id = new.id and state = 'devalued';
    return new; end $$`);
  await database.query(`create trigger commit_it before update on payment_session for each row
    when (new.provider_id = 'pp_giftcard_giftcard' and old.deleted_at is null and new.deleted_at is not null)
    execute function commit_it()`);
  const { body } = await shop.storefront.complete(cartId);
  await database.query("drop function commit_it cascade");
  expect(await statesOf(cartId)).toEqual(["committed"]);
  expect(await shop.balanceCents(card)).toBe(2500);
  expect(body).toMatchObject({ code: "payment_in_progress" });
  expect(await giftSessions()).toEqual([{ status: "authorized", deleted_at: null }]);
});
