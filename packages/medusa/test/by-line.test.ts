import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";
import type { Card } from "./support/storefront.js";

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("by-line");
  await shop.storefront.createProduct("ticket", 25);
  await shop.storefront.createProduct("cheap", 5);
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterEach(async () => {
  shop.proxy.clear();
  await shop.proxy.release();
});
afterAll(() => database?.end());

const admin = (method: string, path: string, body?: unknown) => shop.storefront.send(method, `/admin/${path}`, body);

/** A cart with two tickets of 25.00, a card of so much, and a session for the rest. */
async function readyCart(balanceCents = 4375, quantity = 2) {
  const card = await shop.service.issueCard({ balanceCents });
  const cartId = await shop.storefront.createCart("ticket", quantity);
  await shop.storefront.apply(cartId, card);
  await shop.storefront.initiate(cartId);
  return { card, cartId };
}

async function buy(balanceCents?: number, quantity?: number) {
  const { card, cartId } = await readyCart(balanceCents, quantity);
  const { body } = await shop.storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  return { card, cartId, orderId: body.order.id as string };
}

async function capture(orderId: string) {
  const { gifts, others } = paymentsOf(await shop.storefront.order(orderId));
  for (const { id } of [...gifts, ...others]) await shop.storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  return { giftId: gifts[0].id as string, otherId: others[0]?.id as string };
}

async function buyCaptured(balanceCents?: number, quantity?: number) {
  const bought = await buy(balanceCents, quantity);
  return { ...bought, ...(await capture(bought.orderId)) };
}

const chargesOf = async (cartId: string) => {
  const { rows } = await database.query(
    "select state, amount_cents from giftcard_charge where cart_id = $1 order by created_at, position",
    [cartId],
  );
  return rows.map(({ state, amount_cents }) => `${amount_cents} ${state}`);
};

test("an order's charges name the tickets that each of them paid", { tags: "long" }, async () => {
  const { orderId } = await buy();
  const { charges, lineTitles } = (await admin("GET", `giftcard-pay/orders/${orderId}`)).body;
  const paid = charges.map(({ pieces }: { pieces: { line: string; unit: number; cents: number }[] }) =>
    pieces.map(({ line, unit, cents }) => [lineTitles[line], unit, cents]),
  );
  expect(paid).toEqual([[["ticket, One", 1, 2500]], [["ticket, One", 2, 1875]]]);
});

const outstanding = async (orderId: string) => figuresOf(await shop.storefront.order(orderId)).outstanding;

const returnTickets = (orderId: string, quantity: number, { fulfil = 0 } = {}) =>
  shop.storefront.returnItem(orderId, quantity, fulfil);

const refundOf = async (orderId: string) =>
  (await shop.storefront.ok("GET", `/admin/giftcard-pay/orders/${orderId}/refund`)).refund;
const refundBy = (orderId: string, split: unknown) => admin("POST", `giftcard-pay/orders/${orderId}/refund`, split);

describe("a card that pays 43.75 of two tickets at 25.00", () => {
  test("is charged per ticket, and gets exactly its part of one ticket back: 18.75, and the bank 6.25", async () => {
    const { card, cartId, orderId, giftId, otherId } = await buyCaptured();
    expect(await chargesOf(cartId)).toEqual(["2500 captured", "1875 captured"]);
    expect(await shop.balanceCents(card)).toBe(0);
    expect(await refundOf(orderId)).toMatchObject({ orderId, owedCents: 0, isPossible: true, splits: [] });
    await returnTickets(orderId, 1, { fulfil: 2 });
    expect(await outstanding(orderId)).toBe(-25);
    const refund = await refundOf(orderId);
    expect(refund).toMatchObject({
      ...{ orderId, owedCents: 2500, isPossible: true },
      splits: [
        {
          amountCents: 2500,
          parts: [
            { paymentId: giftId, lastFour: card.cardNumber.slice(-4), cents: 1875 },
            { paymentId: otherId, providerId: "pp_bank_bank", lastFour: null, cents: 625 },
          ],
        },
      ],
    });
    const done = await refundBy(orderId, refund.splits[0]);
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    expect(await shop.balanceCents(card)).toBe(1875);
    expect(await chargesOf(cartId)).toEqual(["2500 captured", "1875 reversed"]);
    const order = await shop.storefront.order(orderId);
    expect(figuresOf(order)).toMatchObject({ refunded: 25, outstanding: 0 });
    expect(await refundOf(orderId)).toMatchObject({ owedCents: 0, splits: [] });
    // A second refund exceeds what is owed.
    expect((await refundBy(orderId, refund.splits[0])).status).toBe(400);

    await returnTickets(orderId, 1);
    const rest = await refundOf(orderId);
    expect(rest).toMatchObject({ owedCents: 2500, isPossible: true });
    expect(rest.splits[0].parts).toMatchObject([{ paymentId: giftId, cents: 2500 }]);
    expect((await refundBy(orderId, rest.splits[0])).status).toBe(200);
    expect(await shop.balanceCents(card)).toBe(4375);
    expect(figuresOf(await shop.storefront.order(orderId))).toMatchObject({ refunded: 50, outstanding: 0 });
  });

  test("accepts each sum of its charges in Medusa's own refund, and names the possible sums", {
    tags: "long",
  }, async () => {
    const { card, giftId, orderId } = await buyCaptured();
    const refund = (amount: number) => admin("POST", `payments/${giftId}/refund`, { amount });
    expect(await refund(10)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/25\.00, 18\.75 euro\. The nearest is 18\.75\. Nothing/) },
    });
    expect(await refund(20)).toMatchObject({
      body: { message: expect.stringMatching(/nearest is 18\.75 or 25\.00\. Nothing was refunded/) },
    });
    expect(await shop.balanceCents(card)).toBe(0);
    const [first, second] = await Promise.all([refund(25), refund(25)]);
    expect([first.status, second.status].sort()).toEqual([200, 400]);
    expect(await shop.balanceCents(card)).toBe(2500);
    expect((await refund(18.75)).status).toBe(200);
    expect(await shop.balanceCents(card)).toBe(4375);
    expect((await refund(18.75)).status).toBe(400);
    expect(await shop.balanceCents(card)).toBe(4375);
    expect(figuresOf(await shop.storefront.order(orderId))).toMatchObject({ refunded: 43.75 });
  });

  test("gets everything back when its order is canceled, captured or not", { tags: "long" }, async () => {
    for (const isCaptured of [false, true]) {
      const { card, orderId, cartId } = await buy();
      if (isCaptured) await capture(orderId);
      expect((await admin("POST", `orders/${orderId}/cancel`, {})).status).toBe(200);
      expect(await shop.balanceCents(card)).toBe(4375);
      expect(await chargesOf(cartId)).toEqual(["2500 reversed", "1875 reversed"]);
    }
  });

  test("gets the remaining amount back when its order is canceled after one ticket's refund", {
    tags: "long",
  }, async () => {
    const { card, orderId, giftId } = await buyCaptured();
    expect((await admin("POST", `payments/${giftId}/refund`, { amount: 18.75 })).status).toBe(200);
    expect((await admin("POST", `orders/${orderId}/cancel`, {})).status).toBe(200);
    expect(await shop.balanceCents(card)).toBe(4375);
    expect(figuresOf(await shop.storefront.order(orderId))).toMatchObject({ refunded: 50 });
  });

  for (const [fault, code] of [
    ["cut-before", "service_unavailable"],
    ["cut-after", "service_unavailable"],
    ["error", "service_unavailable"],
    ["garbage", "service_unavailable"],
    ["deny-after", "service_unavailable"],
  ] as const) {
    test(`is reversed and applied to the cart again if the second charge meets ${fault}`, {
      tags: fault === "cut-after" ? [] : "long",
    }, async () => {
      const { card, cartId } = await readyCart();
      shop.proxy.set("devalue", fault, 1, 1);
      const failed = await shop.storefront.complete(cartId);
      expect(failed.body).toMatchObject({ code });
      shop.proxy.clear();
      expect(await shop.balanceCents(card)).toBe(4375);
      const cart = await shop.storefront.ok("GET", `/store/giftcard-pay/carts/${cartId}`);
      expect(cart.cards).toMatchObject([{ state: "applied", amountCents: 4375 }]);
      expect((await shop.storefront.complete(cartId)).body).toMatchObject({ type: "order" });
      expect(await shop.balanceCents(card)).toBe(0);
    });
  }

  test("is reversed if it holds less by then, and shows its balance", { tags: "long" }, async () => {
    const { card, cartId } = await readyCart();
    await spend(card, 1000);
    expect((await shop.storefront.complete(cartId)).body).toMatchObject({ code: "balance_changed" });
    expect(await shop.balanceCents(card)).toBe(3375);
    const cart = await shop.storefront.ok("GET", `/store/giftcard-pay/carts/${cartId}`);
    expect(cart.cards).toMatchObject([{ state: "applied", balanceCents: 3375, amountCents: 3375 }]);
  });

  test("places one order if two completions race", async () => {
    const { card, cartId } = await readyCart();
    await Promise.all([shop.storefront.complete(cartId), shop.storefront.complete(cartId)]);
    expect(await shop.balanceCents(card)).toBe(0);
    expect(await chargesOf(cartId)).toEqual(["2500 committed", "1875 committed"]);
  });
});

/** Charges a card in another shop. */
async function spend(card: Card, cents: number) {
  const other = await shop.storefront.createCart("cheap", cents / 500);
  await shop.storefront.apply(other, card);
  expect((await shop.storefront.complete(other)).body.type).toBe("order");
}

test("ten tickets are ten charges, and any number of them can be refunded", { tags: "long" }, async () => {
  const card = await shop.service.issueCard({ balanceCents: 5000 });
  const cartId = await shop.storefront.createCart("cheap", 10);
  await shop.storefront.apply(cartId, card);
  const { order } = (await shop.storefront.complete(cartId)).body;
  expect(await chargesOf(cartId)).toEqual(Array(10).fill("500 committed"));
  await capture(order.id);
  let backCents = 0;
  for (const [index, quantity] of [1, 3, 2, 4].entries()) {
    await returnTickets(order.id, quantity, { fulfil: index === 0 ? 10 : 0 });
    const { splits } = await refundOf(order.id);
    expect(splits).toMatchObject([{ amountCents: quantity * 500 }]);
    expect((await refundBy(order.id, splits[0])).status).toBe(200);
    backCents += quantity * 500;
    expect(await shop.balanceCents(card)).toBe(backCents);
  }
  expect(await outstanding(order.id)).toBe(0);
});

test("sixty vouchers are fifty charges, one of which joins eleven: these are refunded together, or the nearest amounts are named", {
  tags: "long",
}, async () => {
  await shop.storefront.createProduct("eighty-cents", 0.8);
  const card = await shop.service.issueCard({ balanceCents: 5000 });
  const cartId = await shop.storefront.createCart("eighty-cents", 60);
  await shop.storefront.apply(cartId, card);
  const { order } = (await shop.storefront.complete(cartId)).body;
  expect(await chargesOf(cartId)).toEqual([...Array(49).fill("80 committed"), "880 committed"]);
  await capture(order.id);
  await returnTickets(order.id, 49, { fulfil: 60 });
  const { splits } = await refundOf(order.id);
  expect(splits).toMatchObject([{ amountCents: 3920 }]);
  expect((await refundBy(order.id, splits[0])).status).toBe(200);
  await returnTickets(order.id, 2);
  const joined = await refundOf(order.id);
  expect(joined).toMatchObject({ owedCents: 160, isPossible: false, splits: [{ amountCents: 880 }] });
  expect((await refundBy(order.id, { parts: [{ ...joined.splits[0].parts[0], cents: 160 }] })).status).toBe(400);
  expect(await shop.balanceCents(card)).toBe(200 + 3920);
  expect((await refundBy(order.id, joined.splits[0])).status).toBe(200);
  expect(await shop.balanceCents(card)).toBe(5000);
  // Medusa waives what was refunded above what was owed.
  expect(await outstanding(order.id)).toBe(0);
  // The other nine are already refunded.
  await returnTickets(order.id, 9);
  expect(await refundOf(order.id)).toMatchObject({ owedCents: 0, splits: [] });
});

test("two people refund the same ticket at the same moment: it is refunded once", async () => {
  const { card, orderId } = await buyCaptured();
  await returnTickets(orderId, 1, { fulfil: 2 });
  const { splits } = await refundOf(orderId);
  const answers = await Promise.all([refundBy(orderId, splits[0]), refundBy(orderId, splits[0])]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect(await shop.balanceCents(card)).toBe(1875);
  expect(figuresOf(await shop.storefront.order(orderId))).toMatchObject({ refunded: 25, outstanding: 0 });
});

test("an edit that removes a ticket owes its amount, split the same way", { tags: "long" }, async () => {
  const { card, orderId } = await buyCaptured();
  const { order } = await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
  await shop.storefront.ok("POST", "/admin/order-edits", { order_id: orderId });
  const path = `/admin/order-edits/${orderId}`;
  await shop.storefront.ok("POST", `${path}/items/item/${order.items[0].id}`, { quantity: 1 });
  await shop.storefront.ok("POST", `${path}/confirm`, {});
  const { splits } = await refundOf(orderId);
  expect(splits[0].parts).toMatchObject([{ cents: 1875 }, { cents: 625 }]);
  expect((await refundBy(orderId, splits[0])).status).toBe(200);
  expect(await shop.balanceCents(card)).toBe(1875);
  expect(await outstanding(orderId)).toBe(0);
});

test("if the service is down during a ticket's refund, the refund is retried and recorded once", async () => {
  const { card, cartId, orderId } = await buyCaptured();
  await returnTickets(orderId, 1, { fulfil: 2 });
  const { splits } = await refundOf(orderId);
  shop.proxy.set("canceldevalue", "cut-before");
  expect((await refundBy(orderId, splits[0])).status).toBe(200);
  expect(await chargesOf(cartId)).toEqual(["2500 captured", "1875 reversing"]);
  expect(await outstanding(orderId)).toBe(0);
  shop.proxy.clear();
  await database.query("update giftcard_charge set next_try_at = now(), lease_until = null");
  await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  expect(await shop.balanceCents(card)).toBe(1875);
  expect(figuresOf(await shop.storefront.order(orderId))).toMatchObject({ refunded: 25, outstanding: 0 });
});

describe("a refund of one ticket after which Medusa crashed", { tags: "long" }, () => {
  test("is recorded on the order by recovery, and the card is credited once", async () => {
    const { card, cartId, orderId, giftId } = await buyCaptured();
    await returnTickets(orderId, 1, { fulfil: 2 });
    // The state that a crash leaves: the refund's row exists, the provider was never called, and the order lacks it.
    const { rows } = await database.query(
      "select reference from giftcard_charge where cart_id = $1 and amount_cents = 1875",
      [cartId],
    );
    await database.query(
      `insert into refund (id, amount, raw_amount, payment_id, metadata, created_at, updated_at)
       values ($1, 18.75, '{"value": "18.75", "precision": 20}', $2, $3, now() - interval '10 minutes', now())`,
      [`ref_${cartId}`, giftId, { giftcard_charges: [rows[0].reference] }],
    );
    for (let run = 0; run < 2; run += 1) await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
    expect(await shop.balanceCents(card)).toBe(1875);
    expect(await chargesOf(cartId)).toEqual(["2500 captured", "1875 reversed"]);
    expect(await outstanding(orderId)).toBe(-6.25);
    const { splits } = await refundOf(orderId);
    expect(splits[0].parts).toMatchObject([{ providerId: "pp_bank_bank", cents: 625 }]);
  });
});
