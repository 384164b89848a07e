// @module-tag long

import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { holdOrder } from "../../../scripts/shops/vendure-shop.mjs";
import { type PlayedStripe, startPlayedStripe } from "../../../test/support/played-stripe.js";
import { openStage, type Stage } from "./support/stage.js";
import { addStripe, payByStripe } from "./support/stripe.js";

const VISA = "4242424242424242";
const INTENT = "mutation { createStripePaymentIntent }";

let stripe: PlayedStripe;
let stage: Stage;
beforeAll(async () => {
  stripe = await startPlayedStripe();
  stage = await openStage({ env: { STRIPE_URL: stripe.url } });
  await addStripe(stage, stripe);
});
afterAll(async () => {
  await stage?.close();
  await stripe?.stop();
});

type Order = Awaited<ReturnType<Stage["order"]>>;

const intentsOf = ({ code }: Order) => stripe.intents.all().filter(({ metadata }) => metadata.orderCode === code);
const takenCents = (order: Order) => intentsOf(order).reduce((sum, { id }) => sum + stripe.intents.takenCents(id), 0);

const pay = (clientSecret: string) => payByStripe(stage, stripe, clientSecret);

/** Waits until cards, Stripe and Vendure agree on these figures. */
async function expectStanding(order: Order, standing: { state: string; cards: number; stripe: number }) {
  await expect
    .poll(async () => ({
      state: (await stage.admin().look(order.code)).state,
      cards: await stage.heldByCards(order),
      stripe: takenCents(order),
      booked: await stage.bookedCents(order.code, "stripe"),
    }))
    .toEqual({ ...standing, booked: standing.stripe });
}

test("Stripe charges the outstanding amount, and the order is placed", async () => {
  const order = await stage.order(7500);
  await order.payByCard();
  const secret = await order.ask(INTENT);
  expect(intentsOf(order)).toMatchObject([{ amount: 2498, description: "tickets" }]);
  expect(await order.ask(INTENT)).toBe(secret);
  await pay(secret);
  await expectStanding(order, { state: "PaymentSettled", cards: 5000, stripe: 2498 });
});

test("counts a payment once if Stripe sends its webhook several times", async () => {
  const order = await stage.order(7500);
  await order.payByCard();
  const secret = await order.ask(INTENT);
  await stripe.confirm(secret, VISA);
  const event = stripe.events.find(
    ({ type, data }) => type === "payment_intent.succeeded" && data.object.id === intentsOf(order)[0]?.id,
  );
  if (!event) throw new Error("Stripe has no event");
  const deliver = () => stripe.deliver(event, `${stage.shop().url}/payments/stripe`);
  await Promise.all([deliver(), deliver(), deliver()]);
  await expectStanding(order, { state: "PaymentSettled", cards: 5000, stripe: 2498 });
});

test("refuses an intent while applied cards are not charged", async () => {
  const order = await stage.order(7500);
  await expect(order.ask(INTENT)).rejects.toThrow(/Charge them first/);
  expect(intentsOf(order)).toEqual([]);
});

test("charges the total of an order without gift cards, as before", { tags: "long" }, async () => {
  const order = await stage.order();
  await pay(await order.ask(INTENT));
  await expectStanding(order, { state: "PaymentSettled", cards: 0, stripe: 7498 });
});

test("reports an overcollected order, does not place it, and a person refunds the excess", async () => {
  const order = await stage.order();
  const early = await order.ask(INTENT); // for the total
  const card = await stage.issueCard(7500);
  await order.apply(card);
  await order.payByCard();
  await pay(early);
  const staged = { ...order, cards: [card], issuedCents: 7500 };
  await expectStanding(staged, { state: "ArrangingPayment", cards: 5000, stripe: 7498 });
  const admin = stage.admin();
  const history = `{ order(id: "${order.id}") { history(options: { take: 100 }) { items { type data } } } }`;
  await expect
    .poll(async () =>
      (await admin.call(history)).history.items.map((item: { data: { note?: string } }) => item.data.note),
    )
    .toContainEqual(expect.stringContaining("Overcollected: gift cards and other payments exceed the total by 50.00"));
  const { items } = await admin.call("{ giftcardPurchases { items { orderCode state overcollected } } }");
  expect(items).toContainEqual({ orderCode: order.code, state: "pending", overcollected: 5000 });
  const refund = `mutation { refundGiftcardOvercollection(orderCode: "${order.code}") }`;
  expect(await admin.call(refund)).toBe(5000);
  await expectStanding(staged, { state: "PaymentSettled", cards: 5000, stripe: 2498 });
  expect(await admin.call(refund)).toBe(0);
});

test("refunds everything of an overcollected order that is canceled", { tags: "long" }, async () => {
  const order = await stage.order();
  const early = await order.ask(INTENT);
  const card = await stage.issueCard(7500);
  await order.apply(card);
  await order.payByCard();
  await pay(early);
  const staged = { ...order, cards: [card], issuedCents: 7500 };
  await expectStanding(staged, { state: "ArrangingPayment", cards: 5000, stripe: 7498 });
  // Vendure asks the bank for a negative amount, and records it as declined.
  await order.payByBank(2498);
  await stage.admin().cancel(order.id);
  await expectStanding(staged, { state: "Cancelled", cards: 0, stripe: 0 });
});

test("refunds a payment of the remainder that arrives after the cards were reversed", async () => {
  const order = await stage.order(7500);
  await order.payByCard();
  const secret = await order.ask(INTENT);
  await order.moveTo("AddingItems");
  await expectStanding(order, { state: "AddingItems", cards: 0, stripe: 0 });
  await pay(secret);
  await expectStanding(order, { state: "ArrangingPayment", cards: 0, stripe: 0 });
});

/** Returns Stripe's event for the paid intent of an order. */
function paidEvent(order: Order) {
  const ids = intentsOf(order).map(({ id }) => id);
  const event = stripe.events.find(
    ({ type, data }) => type === "payment_intent.succeeded" && ids.includes(data.object.id),
  );
  if (!event) throw new Error("Stripe has no event");
  return event;
}

test("does not count a refunded payment again if Stripe repeats its webhook", { tags: "long" }, async () => {
  const order = await stage.order(7500);
  await order.payByCard();
  await pay(await order.ask(INTENT));
  await expectStanding(order, { state: "PaymentSettled", cards: 5000, stripe: 2498 });
  await stage.admin().cancel(order.id);
  await expectStanding(order, { state: "Cancelled", cards: 0, stripe: 0 });
  const next = await stage.order(7500);
  await next.payByCard();
  const secret = await next.ask(INTENT);
  await next.moveTo("AddingItems");
  await expectStanding(next, { state: "AddingItems", cards: 0, stripe: 0 });
  await pay(secret);
  await expectStanding(next, { state: "ArrangingPayment", cards: 0, stripe: 0 });
  await stripe.deliver(paidEvent(next), `${stage.shop().url}/payments/stripe`);
  await expectStanding(next, { state: "ArrangingPayment", cards: 0, stripe: 0 });
});

/** Creates a coupon for 7 % off. */
async function addCoupon() {
  const args = [{ name: "discount", value: "7" }];
  await stage
    .admin()
    .call("mutation ($input: CreatePromotionInput!) { createPromotion(input: $input) { ... on Promotion { id } } }", {
      input: {
        ...{ enabled: true, couponCode: "SEVEN", conditions: [] },
        translations: [{ languageCode: "en", name: "Seven", description: "" }],
        actions: [{ code: "order_percentage_discount", arguments: args }],
      },
    });
}

/** Pays an intent, whose webhook arrives twice. */
async function payTwice(order: Order, secret: string) {
  await pay(secret);
  await stripe.deliver(paidEvent(order), `${stage.shop().url}/payments/stripe`);
}

test("refunds an old intent of the total after a coupon, however often its webhook arrives", {
  tags: "long",
}, async () => {
  await addCoupon();
  const order = await stage.order(3000);
  await order.payByCard();
  await order.call('mutation { applyCouponCode(couponCode: "SEVEN") { ... on Order { id } } }');
  await expect(order.ask(INTENT)).rejects.toThrow(/has changed since its gift cards were charged/);
  await order.payByCard();
  const secret = await order.ask(INTENT);
  expect(intentsOf(order)).toMatchObject([{ amount: Math.round(7498 * 0.93) - 3000 }]);
  await order.moveTo("AddingItems");
  await expectStanding(order, { state: "AddingItems", cards: 0, stripe: 0 });
  await payTwice(order, secret);
  await expectStanding(order, { state: "ArrangingPayment", cards: 0, stripe: 0 });
});

test("refunds an intent of the attempt before the last one", { tags: "long" }, async () => {
  const order = await stage.order(3000);
  await order.payByCard();
  const secret = await order.ask(INTENT);
  await order.moveTo("AddingItems");
  await expectStanding(order, { state: "AddingItems", cards: 0, stripe: 0 });
  const second = await stage.issueCard(2000);
  await order.apply(second);
  await order.moveTo("ArrangingPayment");
  await order.payByCard();
  await order.moveTo("AddingItems");
  const staged = { ...order, cards: [...order.cards, second], issuedCents: 5000 };
  await expectStanding(staged, { state: "AddingItems", cards: 0, stripe: 0 });
  await payTwice(order, secret);
  await expectStanding(staged, { state: "ArrangingPayment", cards: 0, stripe: 0 });
});

test("tells staff about a payment by an old intent once the order is placed", { tags: "long" }, async () => {
  const order = await stage.order();
  const early = await order.ask(INTENT);
  const card = await stage.issueCard(7500);
  await order.apply(card);
  await order.payByCard();
  await order.payByBank(2498);
  await stage.expectHeld(
    { ...order, cards: [card], issuedCents: 7500 },
    { state: "PaymentSettled", cards: 5000, bank: 2498 },
  );
  await pay(early);
  const history = `{ order(id: "${order.id}") { history(options: { take: 100 }) { items { data } } } }`;
  await expect
    .poll(async () =>
      (await stage.admin().call(history)).history.items.map((item: { data: { note?: string } }) => item.data.note),
    )
    .toContainEqual(expect.stringMatching(/^Stripe has collected 74\.98 \(pi_\w+\), and Vendure has not recorded it/));
});

test("refuses an intent while the cards are being charged", async () => {
  const order = await stage.order(7500);
  stage.proxy.set("devalue", "hold");
  const charging = order.payByCard();
  await expect.poll(() => stage.proxy.seen.at(-1)?.operation).toBe("devalue");
  await expect(order.ask(INTENT)).rejects.toThrow(/being charged/);
  await stage.proxy.release();
  stage.proxy.clear();
  await charging;
  expect(intentsOf(order)).toEqual([]);
});

test("reverses the cards if an old intent pays the whole order while they are being charged", {
  tags: "long",
}, async () => {
  const order = await stage.order();
  const early = await order.ask(INTENT);
  const cards = [await stage.issueCard(5000), await stage.issueCard(5000)];
  for (const card of cards) await order.apply(card);
  stage.proxy.set("devalue", "hold");
  const charging = order.payByCard();
  await expect.poll(() => stage.proxy.seen.at(-1)?.operation).toBe("devalue");
  await pay(early);
  stage.proxy.clear();
  await stage.proxy.release();
  await charging;
  const staged = { ...order, cards, issuedCents: 10_000 };
  await expectStanding(staged, { state: "PaymentSettled", cards: 0, stripe: 7498 });
});

test("refunds the second payment if two methods pay the same remainder at once", async () => {
  const order = await stage.order(7500);
  await order.payByCard();
  const secret = await order.ask(INTENT);
  const release = await holdOrder(stage.databaseUrl, order.code);
  const banking = order.payByBank(2498);
  await expect.poll(waitingForLocks).toBeGreaterThan(0);
  const paying = pay(secret);
  await expect.poll(waitingForLocks).toBeGreaterThan(1);
  await release();
  await Promise.all([paying, banking]);
  await expect.poll(async () => (await stage.admin().look(order.code)).state).toBe("PaymentSettled");
  await expect.poll(() => stage.bank.heldCents(order.code) + takenCents(order)).toBe(2498);
  await expect.poll(async () => (await stage.bookedCents(order.code, "stripe")) === takenCents(order)).toBe(true);
  expect(await stage.heldByCards(order)).toBe(5000);
});

test("a payment stays with its order if the shopper goes back to the cart at the same moment", {
  tags: "long",
}, async () => {
  const order = await stage.order(7500);
  await order.payByCard();
  const secret = await order.ask(INTENT);
  const release = await holdOrder(stage.databaseUrl, order.code);
  const paying = pay(secret);
  // Recovery may wait for the order too.
  await expect.poll(waitingForLocks).toBeGreaterThan(0);
  const leaving = order.moveTo("AddingItems").catch(() => {});
  await expect.poll(waitingForLocks).toBeGreaterThan(1);
  await release();
  await Promise.all([paying, leaving]);
  await expect.poll(async () => (await stage.admin().look(order.code)).payments.length).toBe(2);
  await expect.poll(async () => (await stage.bookedCents(order.code, "stripe")) === takenCents(order)).toBe(true);
});

test("refunds at Stripe once while the card service fails", { tags: "long" }, async () => {
  const order = await stage.order();
  const early = await order.ask(INTENT);
  const card = await stage.issueCard(3000);
  await order.apply(card);
  await order.payByCard();
  await pay(early); // for the total: overcollected by 30.00
  const staged = { ...order, cards: [card], issuedCents: 3000 };
  await expectStanding(staged, { state: "ArrangingPayment", cards: 3000, stripe: 7498 });
  stage.proxy.set("canceldevalue", "error");
  await order.moveTo("AddingItems");
  await expectStanding(staged, { state: "AddingItems", cards: 3000, stripe: 0 });
  const refunds = stripe.refunds.all().filter(({ payment_intent }) => payment_intent === intentsOf(order)[0]?.id);
  expect(refunds).toHaveLength(1);
  stage.proxy.clear();
  await expectStanding(staged, { state: "AddingItems", cards: 0, stripe: 0 });
});

test("ignores an event without StripePlugin's metadata, whose signature nobody has checked", {
  tags: "long",
}, async () => {
  const order = await stage.order(7500);
  await order.payByCard();
  const object = { id: "pi_forged", amount_received: 500_000, metadata: { orderCode: order.code } };
  await fetch(`${stage.shop().url}/payments/stripe`, {
    method: "POST",
    headers: { "content-type": "application/json", "stripe-signature": "none" },
    body: JSON.stringify({ type: "payment_intent.succeeded", data: { object } }),
  });
  const history = `{ order(id: "${order.id}") { history(options: { take: 100 }) { items { data } } } }`;
  const { items } = (await stage.admin().call(history)).history;
  expect(JSON.stringify(items)).not.toContain("pi_forged");
});

/** Returns the number of statements in Vendure's database that wait for a lock. */
async function waitingForLocks(): Promise<number> {
  const client = new pg.Client({ connectionString: stage.databaseUrl });
  await client.connect();
  const sql = `select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  const { count } = (await client.query(sql)).rows[0];
  await client.end();
  return count;
}

test("Vendure refuses to start if StripePlugin would charge the total", { tags: "long" }, async () => {
  await expect(stage.start({ STRIPE_AS_IT_IS: "true" })).rejects.toThrow(/outstandingByStripe/);
});
