import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { livingAmountsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";
import type { Answer, Card } from "./support/storefront.js";

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("whole");
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  await shop.storefront.createProduct("fifty", 50);
  await shop.storefront.createProduct("sixty", 60);
});
afterAll(() => database?.end());

/** Time limit for many consecutive purchases on a busy machine. */
const SLOWLY = 900_000;

const path = (cartId: string) => `/store/giftcard-pay/carts/${cartId}`;
const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface TestCard extends Card {
  readonly balance: number;
}
async function issue(...balances: number[]): Promise<TestCard[]> {
  const cards: TestCard[] = [];
  for (const balance of balances) {
    cards.push({ ...(await shop.service.issueCard({ balanceCents: balance })), balance });
  }
  return cards;
}

/** A cart with these cards, in this order. */
async function cartWith(handle: string, cards: readonly TestCard[]) {
  const cartId = await shop.storefront.createCart(handle);
  const ids: string[] = [];
  for (const card of cards) {
    const { body } = await shop.storefront.apply(cartId, card);
    ids.push(body.cards.at(-1).id);
  }
  const remove = () => shop.storefront.send("DELETE", `${path(cartId)}/cards/${ids[0]}`);
  return { cartId, cards, ids, remove };
}
type CartWith = Awaited<ReturnType<typeof cartWith>>;

const notNow = /^(amount_changed|payment_in_progress|cart_completed)$/;

/**
 * Expects that the service charged exactly what the order books, or nothing if there is no order. Cancels the order
 * afterwards, so that the cards can be used again.
 */
async function expectExact({ cards }: CartWith, { body }: Answer): Promise<boolean> {
  const takenCents = async () => {
    const taken: number[] = [];
    for (const card of cards) taken.push(card.balance - (await shop.balanceCents(card)));
    return taken.filter((cents) => cents !== 0).sort((a, b) => b - a);
  };
  const taken = await takenCents();
  if (body.type !== "order") {
    expect(taken).toEqual([]);
    expect(body.code, JSON.stringify(body)).toMatch(notNow);
    return false;
  }
  const order = await shop.storefront.order(body.order.id);
  const booked = livingAmountsOf(order).map((amount) => Math.round(amount * 100));
  expect(booked).toEqual(taken);
  expect(booked.reduce((sum, cents) => sum + cents, 0)).toBe(Math.round(order.total * 100));
  await shop.storefront.ok("POST", `/admin/orders/${body.order.id}/cancel`, {});
  expect(await takenCents()).toEqual([]);
  return true;
}

describe("a card removed while the order is being placed", () => {
  test.each([
    ["fifty", [2000, 5000]],
    ["sixty", [4000, 1500, 5000]],
  ])(
    "leaves either no order or an order that books exactly what was charged: %s by %j",
    { tags: "long", timeout: 300_000 },
    async (handle, balances) => {
      const cards = await issue(...balances);
      for (const delay of [0, 100, 300, 800]) {
        const cart = await cartWith(handle, cards);
        const [completed, removed] = await Promise.all([
          shop.storefront.complete(cart.cartId),
          after(delay).then(cart.remove),
        ]);
        await expectExact(cart, completed);
        expect(removed.body.code ?? "cart_completed", JSON.stringify(removed.body)).toMatch(notNow);
      }
    },
  );
});

test("two concurrent completions of a fully covered cart both return its order", {
  tags: "long",
  timeout: SLOWLY,
}, async () => {
  const cards = await issue(5000);
  for (let n = 0; n < 8; n++) {
    const cart = await cartWith("fifty", cards);
    const [one, other] = await Promise.all([
      shop.storefront.complete(cart.cartId),
      shop.storefront.complete(cart.cartId),
    ]);
    expect(one.body, JSON.stringify(one.body)).toMatchObject({ type: "order" });
    expect(other.body, JSON.stringify(other.body)).toMatchObject({ order: { id: one.body.order.id } });
    await expectExact(cart, one);
  }
});

test("every refusal has a code when cards, payments and completions race", {
  tags: "long",
  timeout: SLOWLY,
}, async () => {
  const { storefront } = shop;
  const [first, other] = await issue(4000, 5000);
  for (const delay of [0, 200]) {
    const cart = await cartWith("sixty", [first as TestCard]);
    await storefront.initiate(cart.cartId);
    const answers = await Promise.all([
      storefront.complete(cart.cartId),
      after(delay).then(() => storefront.complete(cart.cartId)),
      after(delay).then(() => storefront.apply(cart.cartId, other as TestCard)),
      after(delay).then(cart.remove),
      after(delay).then(() => storefront.initiate(cart.cartId)),
    ]);
    for (const { status, body } of answers) {
      const isNamed = status === 200 || (status < 500 && typeof body.code === "string");
      expect(isNamed, JSON.stringify(body)).toBe(true);
    }
    for (const { body } of answers.filter(({ body }) => body.type === "order").slice(0, 1)) {
      await storefront.ok("POST", `/admin/orders/${body.order.id}/cancel`, {});
    }
  }
});

describe("a bank that has taken its money before Medusa knows about it", () => {
  /** A cart paid at the bank while Medusa's session is still pending. */
  async function paidEarly(...balances: number[]) {
    const cart = await cartWith("sixty", await issue(...balances));
    const { body } = await shop.storefront.initiate(cart.cartId, "pp_bank_bank", { early: true });
    return { ...cart, sessionId: body.payment_collection.payment_sessions[0].id as string };
  }
  const livingSessions = async (cartId: string) => {
    const { cart } = await shop.storefront.ok(
      "GET",
      `/store/carts/${cartId}?fields=*payment_collection.payment_sessions`,
    );
    return cart.payment_collection.payment_sessions.map(({ id }: { id: string }) => id);
  };
  const cardsOf = async (cartId: string) =>
    (await shop.storefront.ok("GET", path(cartId))).cards.map(({ id }: { id: string }) => id);

  test("blocks another card and leaves the cart unchanged; the order can still be placed", async () => {
    const cart = await paidEarly();
    const card = await shop.service.issueCard({ balanceCents: 5000 });
    const quoted = await shop.storefront.send("POST", `${path(cart.cartId)}/quote`, {
      cardNumber: card.cardNumber,
      pin: card.pin,
    });
    for (const request of [{ quoteId: quoted.body.quoteId }, { cardNumber: card.cardNumber, pin: card.pin }]) {
      const applied = await shop.storefront.send("POST", `${path(cart.cartId)}/cards`, request);
      expect(applied).toMatchObject({ status: 409, body: { code: "payment_in_progress" } });
      expect(await cardsOf(cart.cartId)).toEqual([]);
      expect(await livingSessions(cart.cartId)).toEqual([cart.sessionId]);
    }
    const completed = await shop.storefront.complete(cart.cartId);
    expect(completed.body, JSON.stringify(completed.body)).toMatchObject({ type: "order" });
    expect(livingAmountsOf(await shop.storefront.order(completed.body.order.id))).toEqual([60]);
    expect(await shop.balanceCents(card)).toBe(5000);
  });

  test("blocks removing a card or restarting the payment; the order can still be placed", {
    tags: "long",
  }, async () => {
    const cart = await paidEarly(4000);
    const removed = await cart.remove();
    expect(removed).toMatchObject({ status: 409, body: { code: "payment_in_progress" } });
    expect(await cardsOf(cart.cartId)).toEqual(cart.ids);
    const started = await shop.storefront.initiate(cart.cartId);
    expect(started).toMatchObject({ status: 400, body: { code: "payment_in_progress" } });
    expect(await livingSessions(cart.cartId)).toEqual([cart.sessionId]);
    const completed = await shop.storefront.complete(cart.cartId);
    expect(completed.body, JSON.stringify(completed.body)).toMatchObject({ type: "order" });
    expect(livingAmountsOf(await shop.storefront.order(completed.body.order.id))).toEqual([40, 20]);
    expect(await shop.balanceCents(cart.cards[0] as TestCard)).toBe(0);
  });

  test("does not trap the cart when the applied card expires: the shopper enters the card again", async () => {
    const cart = await paidEarly(4000);
    const card = cart.cards[0] as TestCard;
    await database.query("update giftcard_tender set expires_at = now() where cart_id = $1", [cart.cartId]);
    const refused = await shop.storefront.complete(cart.cartId);
    expect(refused.body).toMatchObject({ code: "applied_card_expired" });
    expect((await shop.storefront.apply(cart.cartId, card)).status).toBe(200);
    expect(await livingSessions(cart.cartId)).toEqual([cart.sessionId]);
    const completed = await shop.storefront.complete(cart.cartId);
    expect(completed.body, JSON.stringify(completed.body)).toMatchObject({ type: "order" });
    expect(livingAmountsOf(await shop.storefront.order(completed.body.order.id))).toEqual([40, 20]);
    expect(await shop.balanceCents(card)).toBe(0);
  });
});

test.each([
  { what: "with a card", balances: [4000], sessions: 2 },
  { what: "without a card", balances: [], sessions: 1 },
])("rejects a payment started after an order $what; the order keeps its money", async (row) => {
  const { storefront } = shop;
  const cart = await cartWith("sixty", await issue(...row.balances));
  const { body } = await storefront.initiate(cart.cartId, "pp_bank_bank");
  const collection = body.payment_collection;
  const completed = await storefront.complete(cart.cartId);
  expect(completed.body.type).toBe("order");
  const sessions = async () =>
    (
      await database.query(
        "select id, status::text from payment_session where payment_collection_id = $1 and deleted_at is null order by id",
        [collection.id],
      )
    ).rows;
  const before = await sessions();
  expect(before).toHaveLength(row.sessions);
  for (const who of ["store", "admin"]) {
    const at = `/${who}/payment-collections/${collection.id}/payment-sessions`;
    const started = await storefront.send("POST", at, { provider_id: "pp_bank_bank" });
    expect(started).toMatchObject({ status: 400, body: { code: "cart_completed" } });
    expect(await sessions()).toEqual(before);
  }
});

test("completes a cart that became free while its applied card expired", { tags: "long" }, async () => {
  const { storefront } = shop;
  await storefront.createProduct("gratis", 0);
  const cart = await cartWith("sixty", await issue(4000));
  await storefront.addItem(cart.cartId, "gratis");
  await database.query("update giftcard_tender set expires_at = now() where cart_id = $1", [cart.cartId]);
  const { items } = (await storefront.ok("GET", `/store/carts/${cart.cartId}`)).cart;
  const paid = items.find((item: { unit_price: number }) => item.unit_price === 60);
  await storefront.ok("DELETE", `/store/carts/${cart.cartId}/line-items/${paid.id}`);
  const completed = await storefront.complete(cart.cartId);
  expect(completed.body, JSON.stringify(completed.body)).toMatchObject({ type: "order" });
  expect(await shop.balanceCents(cart.cards[0] as TestCard)).toBe(4000);
});

test("rejects a completion without a payment for the remainder with the plugin's error code, not Medusa's text", async () => {
  const { storefront } = shop;
  const left = await cartWith("sixty", await issue(4000));
  expect(await storefront.complete(left.cartId)).toMatchObject({
    status: 400,
    body: { code: "amount_changed" },
  });
  await storefront.initiate(left.cartId);
  await left.remove();
  expect(await storefront.complete(left.cartId)).toMatchObject({
    status: 400,
    body: { code: "amount_changed" },
  });
});

test("rejects a completion with the plugin's error code if its session is deleted after the cart was checked", {
  tags: "long",
}, async () => {
  const { storefront } = shop;
  const cart = await cartWith("sixty", await issue(4000));
  await storefront.initiate(cart.cartId);
  // The cart's turn is the last thing a completion takes before Medusa's workflow starts.
  await database.query(`create function drop_sessions() returns trigger language plpgsql as $$ begin
    delete from payment_session s using cart_payment_collection l
      where l.cart_id = new.cart_id and s.payment_collection_id = l.payment_collection_id;
    return new; end $$`);
  await database.query(`create trigger drop_sessions after insert on giftcard_cart_lease for each row
    when (new.cart_id = '${cart.cartId}') execute function drop_sessions()`);
  expect(await storefront.complete(cart.cartId)).toMatchObject({
    status: 400,
    body: { code: "amount_changed", type: "not_allowed" },
  });
  await database.query("drop function drop_sessions cascade");
  await storefront.initiate(cart.cartId);
  expect((await storefront.complete(cart.cartId)).body).toMatchObject({ type: "order" });
  expect(await shop.balanceCents(cart.cards[0] as TestCard)).toBe(0);
});

test("rejects capturing or refunding 49.995 of a 50.00 payment; the order shows what the card was charged", async () => {
  const { storefront } = shop;
  const cart = await cartWith("fifty", await issue(5000));
  const { order } = (await storefront.complete(cart.cartId)).body;
  const id = (await storefront.order(order.id)).payment_collections[0].payments[0].id;
  const refused = { status: 400, body: { code: "invalid_request" } };
  for (const amount of [49.995, 50.004])
    expect(await storefront.send("POST", `/admin/payments/${id}/capture`, { amount })).toMatchObject(refused);
  await storefront.ok("POST", `/admin/payments/${id}/capture`, { amount: 50 });
  expect(await storefront.send("POST", `/admin/payments/${id}/refund`, { amount: 49.995 })).toMatchObject(refused);
  expect((await storefront.order(order.id)).summary).toMatchObject({ paid_total: 50, refunded_total: 0 });
  await storefront.ok("POST", `/admin/orders/${order.id}/cancel`, {});
});

test("charges a total of 24.985 as 24.99 and refunds exactly that", { tags: "long" }, async () => {
  const { storefront } = shop;
  await storefront.createProduct("half-cent", 24.985);
  const cart = await cartWith("half-cent", await issue(5000));
  const { order } = (await storefront.complete(cart.cartId)).body;
  const id = (await storefront.order(order.id)).payment_collections[0].payments[0].id;
  await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  for (const amount of [24.98, 24.985])
    expect((await storefront.send("POST", `/admin/payments/${id}/refund`, { amount })).status).toBe(400);
  await storefront.ok("POST", `/admin/payments/${id}/refund`, { amount: 24.99 });
  expect(await shop.balanceCents(cart.cards[0] as TestCard)).toBe(5000);
});

test("an order canceled while it is being paid is refunded in full, on the card and at the bank", {
  tags: "long",
}, async () => {
  const { storefront } = shop;
  const cart = await cartWith("sixty", await issue(4000));
  await storefront.initiate(cart.cartId, "pp_bank_bank", { behaviour: "slow" });
  const completing = storefront.complete(cart.cartId);
  const placed = async () =>
    (await database.query("select order_id from order_cart where cart_id = $1", [cart.cartId])).rows[0]?.order_id;
  await expect.poll(placed, { interval: 20 }).toBeTruthy();
  const orderId = await placed();
  const canceled = await storefront.send("POST", `/admin/orders/${orderId}/cancel`, {});
  expect(canceled.status, JSON.stringify(canceled.body)).toBe(200);
  expect((await completing).body).toMatchObject({ type: "order", order: { id: orderId } });
  const order = await storefront.order(orderId);
  expect(order.status).toBe("canceled");
  expect(livingAmountsOf(order)).toEqual([]);
  expect(await shop.balanceCents(cart.cards[0] as TestCard)).toBe(4000);
});

test("a completion that the shop answered while it was waiting places no order and releases the cart", {
  tags: "long",
}, async () => {
  const { cartId } = await cartWith("fifty", await issue(7500));
  const leases = async () =>
    (await database.query("select owner from giftcard_cart_lease where cart_id = $1", [cartId])).rows;
  await database.query(
    "insert into giftcard_cart_lease (cart_id, owner, until) values ($1, 'another process', now() + interval '1 minute')",
    [cartId],
  );
  const answered = await fetch(`${shop.medusa.url}/store/carts/${cartId}/complete`, {
    method: "POST",
    headers: { "x-publishable-api-key": shop.medusa.publishableKey, "x-test-limit-ms": "300" },
  });
  expect(answered.status).toBe(503);
  await database.query("delete from giftcard_cart_lease where cart_id = $1", [cartId]);
  await after(1000);
  expect(await leases()).toEqual([]);
  const { rows } = await database.query("select order_id from order_cart where cart_id = $1", [cartId]);
  expect(rows).toEqual([]);
});

const inTurn: Record<string, (cartId: string) => [method: string, path: string, body: object]> = {
  "creating a payment collection": (cart_id) => ["POST", "/store/payment-collections", { cart_id }],
  "changing the promotions": (id) => ["DELETE", `/store/carts/${id}/promotions`, { promo_codes: ["TEN"] }],
  "changing the address": (id) => ["POST", `/store/carts/${id}`, { email: "other@example.com" }],
};
test.each(Object.entries(inTurn))(
  "%s waits while another process completes the cart",
  { tags: "long" },
  async (_, request) => {
    const { storefront } = shop;
    const { cartId } = await cartWith("fifty", await issue(7500));
    await database.query(
      "insert into giftcard_cart_lease (cart_id, owner, until) values ($1, 'another process', now() + interval '1 minute')",
      [cartId],
    );
    let isFree = false;
    const made = storefront.ok(...request(cartId)).then((body) => {
      expect(isFree).toBe(true);
      return body;
    });
    await after(500);
    isFree = true;
    await database.query("delete from giftcard_cart_lease where cart_id = $1", [cartId]);
    const { payment_collection, cart } = await made;
    expect((payment_collection ?? cart).id).toBeTruthy();
    if (cart) await storefront.initiate(cartId);
    expect((await storefront.complete(cartId)).body.type).toBe("order");
  },
);

test("canceling an order without gift cards waits while another process refunds it", async () => {
  const { storefront } = shop;
  const { cartId } = await cartWith("fifty", []);
  await storefront.initiate(cartId);
  const { id } = (await storefront.complete(cartId)).body.order;
  await database.query(
    "insert into giftcard_cart_lease (cart_id, owner, until) values ($1, 'another process', now() + interval '1 minute')",
    [id],
  );
  let isCanceled = false;
  const canceled = storefront.ok("POST", `/admin/orders/${id}/cancel`, {}).finally(() => {
    isCanceled = true;
  });
  await after(1500);
  expect(isCanceled).toBe(false);
  await database.query("delete from giftcard_cart_lease where cart_id = $1", [id]);
  expect(await canceled).toMatchObject({ order: { status: "canceled" } });
});
