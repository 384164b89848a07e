// @module-tag long
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { livingAmountsOf, paymentsOf } from "./support/figures.js";
import { startShop, type TestShop } from "./support/shop.js";

let shop: TestShop;
let database: pg.Client;
beforeAll(async () => {
  // Another plugin's hook, which fails after all payments while the table `fail_hook` exists.
  shop = await startShop({
    ...{ TEST_TAKE_HOOKS: "orderCreated", TEST_FAILING_HOOK: "orderCreated" },
    TEST_RECOVER_BY_HAND: "yes",
  });
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  await shop.storefront.createProduct("fifty", 50);
  await database.query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'the disk is full'; end $$`);
  await database.query(`create function shrink() returns trigger language plpgsql as
    $$ begin new.amount = new.amount - 1; return new; end $$`);
});
afterEach(async () => {
  await database.query("drop table if exists fail_hook");
  await database.query("drop trigger if exists fault on order_transaction");
  await database.query("drop trigger if exists fault on payment_session");
  await database.query("drop trigger if exists fault on payment");
  await database.query("drop trigger if exists fault on giftcard_charge");
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

/** A cart for 74.98 with a card of 75.00, and a session of 24.98 by the bank. */
async function readyCart(data?: Record<string, unknown>) {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId, "pp_bank_bank", data);
  return { card, cartId };
}
/** A cart for 50.00 that a card of 75.00 covers. */
async function coveredCart() {
  const card = await shop.service.issueCard({ balanceCents: 7500 });
  const cartId = await shop.storefront.createCart("fifty");
  await shop.storefront.apply(cartId, card);
  return { card, cartId };
}
type Cart = Awaited<ReturnType<typeof readyCart>>;

const faults = {
  "another plugin's hook fails after every payment": () => database.query("create table fail_hook ()"),
  "the capture can't be written into the order": () =>
    database.query("create trigger fault before insert on order_transaction for each row execute function refuse()"),
};
const heal = () => database.query("drop table if exists fail_hook; drop trigger if exists fault on order_transaction");

/** Expects the card reversed and on the cart with the same amount, and no charge or payment of an order. */
async function expectVoided({ card, cartId }: Cart, coveredCents: number, attempts = 1) {
  expect(await shop.balanceCents(card)).toBe(7500);
  expect(await shop.storefront.ok("GET", `/store/giftcard-pay/carts/${cartId}`)).toMatchObject({
    coveredCents,
    cards: [{ state: "applied", amountCents: coveredCents }],
  });
  const { rows } = await database.query("select state, order_id from giftcard_charge where cart_id = $1", [cartId]);
  expect(rows).toEqual(Array(attempts).fill({ state: "reversed", order_id: null }));
}

test.each([
  ["another plugin's hook fails after every payment", "authorized"],
  ["another plugin's hook fails after every payment", "captured"],
  ["the capture can't be written into the order", "captured"],
] as const)(
  "%s, and the remainder was %s: twice the card is on the cart again, and the third attempt pays 24.98 and 50.00 once",
  async (fault, behaviour) => {
    const cart = await readyCart({ behaviour });
    await faults[fault]();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect((await shop.storefront.complete(cart.cartId)).body.type).not.toBe("order");
      await expectVoided(cart, 5000, attempt + 1);
      const { body } = await shop.storefront.initiate(cart.cartId, "pp_bank_bank", { behaviour });
      expect(body.payment_collection.payment_sessions).toMatchObject([{ amount: 24.98 }]);
    }
    await heal();
    const completed = await shop.storefront.complete(cart.cartId);
    expect(completed.body, JSON.stringify(completed.body)).toMatchObject({ type: "order" });
    const order = await shop.storefront.order(completed.body.order.id);
    // Only one card payment: the voided ones are not refundable.
    expect(paymentsOf(order).gifts).toHaveLength(1);
    const kept = paymentsOf(order).others.filter(({ refunds, canceled_at }) => refunds.length === 0 && !canceled_at);
    expect(kept).toMatchObject([{ amount: 24.98 }]);
    expect(await shop.balanceCents(cart.card)).toBe(2500);
  },
);

test("a covered cart keeps its card if the completion fails at the end, and the next attempt completes it", async () => {
  const cart = await coveredCart();
  await faults["another plugin's hook fails after every payment"]();
  expect((await shop.storefront.complete(cart.cartId)).body.type).not.toBe("order");
  await heal();
  await expectVoided(cart, 5000);
  const completed = await shop.storefront.complete(cart.cartId);
  expect(completed.body, JSON.stringify(completed.body)).toMatchObject({ type: "order" });
  const order = await shop.storefront.order(completed.body.order.id);
  expect(livingAmountsOf(order)).toEqual([50]);
  expect(paymentsOf(order).gifts).toHaveLength(1);
  expect(await shop.balanceCents(cart.card)).toBe(2500);
});

test("while the service is down, the card pays nothing; it is on the cart again after its reversal", {
  tags: "long",
}, async () => {
  const cart = await readyCart();
  await faults["another plugin's hook fails after every payment"]();
  shop.proxy.set("canceldevalue", "cut-before");
  expect((await shop.storefront.complete(cart.cartId)).body.type).not.toBe("order");
  await heal();
  const summary = () => shop.storefront.ok("GET", `/store/giftcard-pay/carts/${cart.cartId}`);
  expect(await summary()).toMatchObject({ coveredCents: 0, cards: [{ state: "settling" }] });
  shop.proxy.clear();
  const state = async () => {
    await database.query("update giftcard_charge set next_try_at = now() where cart_id = $1", [cart.cartId]);
    await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
    return (await summary()).cards[0].state;
  };
  await expect.poll(state, { interval: 500 }).toBe("applied");
  await expectVoided(cart, 5000);
});

test("a remainder whose session another process deletes during authorization is voided with the card", {
  tags: "long",
}, async () => {
  const cart = await readyCart();
  await database.query(`create or replace function drop_session() returns trigger language plpgsql as
    $$ begin delete from payment_session where id = new.payment_session_id; return new; end $$`);
  await database.query(`create trigger fault after insert on payment for each row
    when (new.provider_id = 'pp_bank_bank') execute function drop_session()`);
  expect((await shop.storefront.complete(cart.cartId)).body.type).not.toBe("order");
  await expectVoided(cart, 5000);
  const { rows } = await database.query(
    `select canceled_at from payment join cart_payment_collection l using (payment_collection_id)
     where l.cart_id = $1 and provider_id = 'pp_bank_bank'`,
    [cart.cartId],
  );
  expect(rows).toEqual([{ canceled_at: expect.any(Date) }]);
});

test("recovery reverses a charge whose reversal could not be recorded while its order was voided", async () => {
  const cart = await readyCart();
  await faults["another plugin's hook fails after every payment"]();
  await database.query(`create trigger fault before update on giftcard_charge for each row
    when (old.state = 'committed') execute function refuse()`);
  expect((await shop.storefront.complete(cart.cartId)).body.type).not.toBe("order");
  await heal();
  const { rows } = await database.query(
    `select state, (select count(*)::integer from "order" where id = order_id) as orders from giftcard_charge
     where cart_id = $1`,
    [cart.cartId],
  );
  expect(rows).toEqual([{ state: "committed", orders: 0 }]);
  await database.query("drop trigger fault on giftcard_charge");
  await database.query("update giftcard_charge set updated_at = now() - interval '1 hour' where cart_id = $1", [
    cart.cartId,
  ]);
  await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  await expectVoided(cart, 5000);
  const gifts = await database.query(
    `select canceled_at from payment join cart_payment_collection l using (payment_collection_id)
     where l.cart_id = $1 and provider_id = 'pp_giftcard_giftcard' and payment.deleted_at is null`,
    [cart.cartId],
  );
  expect(gifts.rows).toEqual([]);
});

describe("the database rejects a charge whose payment in Medusa has another amount", () => {
  const shrinks = (table: string) =>
    database.query(
      `create trigger fault before insert on ${table} for each row when (new.provider_id = 'pp_giftcard_giftcard')
       execute function shrink()`,
    );

  test("before it is sent: nothing is sent", async () => {
    const cart = await coveredCart();
    await shrinks("payment_session");
    const devalues = () => shop.proxy.seen.filter(({ operation }) => operation === "devalue").length;
    const before = devalues();
    expect(await shop.storefront.complete(cart.cartId)).toMatchObject({
      status: 400,
      body: { code: "amount_changed" },
    });
    expect(devalues()).toBe(before);
    const split = await readyCart();
    expect(await shop.storefront.complete(split.cartId)).toMatchObject({
      status: 400,
      body: { code: "amount_changed" },
    });
    expect(devalues()).toBe(before);
    expect(await shop.balanceCents(split.card)).toBe(7500);
  });

  test("before it is committed to the order: the card is reversed", async () => {
    const cart = await readyCart();
    await shrinks("payment");
    expect(await shop.storefront.complete(cart.cartId)).toMatchObject({
      status: 400,
      body: { code: "amount_changed" },
    });
    await expectVoided(cart, 5000);
  });

  test("from any writer of the journal", async () => {
    const { body } = await shop.storefront.complete((await readyCart()).cartId);
    const change = (set: string) =>
      database.query(`update giftcard_charge set ${set} where order_id = $1`, [body.order.id]);
    for (const set of ["amount_cents = 4999, deducted_cents = 4999", "external_id = 'payses_other'"]) {
      await expect(change(set)).rejects.toMatchObject({ constraint: "giftcard_charge_amount" });
    }
  });
});

test("recovery reopens a cart that Medusa left closed without an order", async () => {
  const cart = await coveredCart();
  await faults["another plugin's hook fails after every payment"]();
  expect((await shop.storefront.complete(cart.cartId)).body.type).not.toBe("order");
  await heal();
  // The state after two processes each void a completion: the second restores what it found, "completed".
  await database.query(
    "update cart set completed_at = now(), updated_at = now() - interval '10 minutes' where id = $1",
    [cart.cartId],
  );
  expect((await shop.storefront.complete(cart.cartId)).body.type).not.toBe("order");
  await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  await expectVoided(cart, 5000);
  const completed = await shop.storefront.complete(cart.cartId);
  expect(completed.body, JSON.stringify(completed.body)).toMatchObject({ type: "order" });
  expect(await shop.balanceCents(cart.card)).toBe(2500);
});
