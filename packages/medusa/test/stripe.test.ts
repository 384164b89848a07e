// @module-tag long
import { createRequire } from "node:module";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import type { TestPeer } from "./support/shop.js";
import { type StripeCart, type StripeSession, type StripeShop, startStripeShop } from "./support/stripe-shop.js";

const VISA = "4242424242424242";
const ASKS_FOR_MORE = "4000002500003155";
const DECLINED = "4000000000000002";
const IBAN = "DE89370400440532013000";

/** Makes Stripe capture when the shopper confirms, rather than when the shop captures. */
const AT_ONCE = { capture_method: "automatic" };
/** Capture modes: the data that the page sends, and the state of Stripe's 24.98 after the order. */
const ways = [
  ["captured later", undefined, { cardCents: 5000, heldCents: 2498 }],
  ["captured at once", AT_ONCE, { cardCents: 5000, takenCents: 2498 }],
] as const;
const NOTHING = {};
/** The number of rounds in which two calls race. */
const ROUNDS = 4;
/** The age from which recovery takes over unfinished work. */
const LEASE_MS = 30_000;

let all: StripeShop;
let peer: TestPeer;
beforeAll(async () => {
  all = await startStripeShop({ TEST_RECOVER_OFTEN: "yes", TEST_LOCK: "postgres" }, { leaseMs: LEASE_MS });
  peer = await all.shop.startPeer();
});
afterEach(() => all.wire.clear());
afterAll(() => all?.stop());

type Ready = StripeCart & { session: StripeSession };

const complete = (cartId: string) => all.shop.storefront.complete(cartId);
const admin = (path: string, body: object = {}) => all.shop.storefront.send("POST", `/admin/${path}`, body);
const intentOf = ({ session }: Ready) => all.stripe.intents.find(session.intentId);
const keysOf = ({ session }: Ready, deed: string) =>
  all.stripe.intents.entries.flatMap((entry) =>
    entry.intentId === session.intentId && entry.deed === deed ? [entry.key] : [],
  );

/** A cart for 74.98 with cards, whose page chose Stripe for the remainder. */
async function ready(data?: Record<string, unknown>, ...balances: number[]): Promise<Ready> {
  const cart = await all.createCart(...(balances.length > 0 ? balances : [5000]));
  return { ...cart, session: await all.chooseStripe(cart.cartId, data) };
}

/** The same, with the payment confirmed at Stripe. */
async function confirmed(data?: Record<string, unknown>, ...balances: number[]): Promise<Ready> {
  const cart = await ready(data, ...balances);
  expect(await all.stripe.confirm(cart.session.clientSecret, VISA)).toMatchObject({ status: 200 });
  return cart;
}

async function place({ cartId }: StripeCart): Promise<string> {
  const { body } = await complete(cartId);
  expect(body).toMatchObject({ type: "order", order: { id: await all.orderOf(cartId) } });
  return body.order.id;
}

/** An order for 74.98: 50.00 by a card, and 24.98 by Stripe. */
async function placed(data?: Record<string, unknown>) {
  const cart = await confirmed(data);
  const orderId = await place(cart);
  const { gifts, others } = paymentsOf(await all.shop.storefront.order(orderId));
  return { ...cart, orderId, giftId: String(gifts[0].id), stripeId: String(others[0].id) };
}

async function applyMore(cart: Ready, balanceCents: number) {
  const card = await all.issueCard(balanceCents);
  const answer = await all.shop.storefront.apply(cart.cartId, card);
  return { answer, cart: { ...cart, cards: [...cart.cards, card] } };
}

async function removeCard({ cartId }: StripeCart) {
  const path = `/store/giftcard-pay/carts/${cartId}`;
  const { cards } = await all.shop.storefront.ok("GET", path);
  return all.shop.storefront.send("DELETE", `${path}/cards/${cards[0].id}`);
}

/** Runs an action after a short delay. */
async function after<T>(ms: number, action: () => Promise<T>): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return action();
}

/** Completes like a page, which retries while a webhook's completion is in progress. */
async function completeAlone(cartId: string): ReturnType<typeof complete> {
  const answer = await complete(cartId);
  return answer.body.code === "payment_in_progress" ? after(100, () => completeAlone(cartId)) : answer;
}

const block = (cart: StripeCart) => all.shop.service.command("card", "block", cart.cards[0]?.cardNumber ?? "");
const refused = { body: { code: "card_blocked" } };
const inProgress = { body: { code: "payment_in_progress" } };

test("the simulated Stripe follows Stripe's rules, called by Stripe's own SDK", async () => {
  const Stripe = createRequire(createRequire(import.meta.url).resolve("@medusajs/payment-stripe"))("stripe");
  const { hostname: host, port } = new URL(all.stripe.url);
  const sdk = new Stripe(all.stripe.apiKey, { host, port, protocol: "http" });
  const create = (amount: number, options?: object) =>
    sdk.paymentIntents.create({ amount, currency: "eur", capture_method: "manual" }, options);
  const key = { idempotencyKey: "one" };
  const intent = await create(2498, key);
  expect((await create(2498, key)).id).toBe(intent.id);
  await expect(create(2499, key)).rejects.toMatchObject({ type: "StripeIdempotencyError" });
  await expect(create(49)).rejects.toMatchObject({ code: "amount_too_small" });
  await expect(sdk.paymentIntents.create({ amount: 100, currency: "eur", cents: 1 })).rejects.toMatchObject({
    code: "parameter_unknown",
  });
  const unexpected = { code: "payment_intent_unexpected_state" };
  await expect(sdk.paymentIntents.capture(intent.id)).rejects.toMatchObject(unexpected);
  await sdk.paymentIntents.update(intent.id, { amount: 2000 });
  await all.stripe.confirm(intent.client_secret, VISA);
  const tooMuch = { amount_to_capture: 2001 };
  await expect(sdk.paymentIntents.capture(intent.id, tooMuch)).rejects.toMatchObject({ statusCode: 400 });
  expect(await sdk.paymentIntents.capture(intent.id)).toMatchObject({
    status: "succeeded",
    amount_received: 2000,
  });
  const payment_intent = { id: intent.id, status: "succeeded" };
  await expect(sdk.paymentIntents.cancel(intent.id)).rejects.toMatchObject({ ...unexpected, payment_intent });
  const refund = (amount: number) => sdk.refunds.create({ payment_intent: intent.id, amount });
  await expect(refund(2001)).rejects.toMatchObject({ type: "StripeInvalidRequestError" });
  await refund(2000);
  await expect(refund(1)).rejects.toMatchObject({ code: "charge_already_refunded" });
  const customer = await sdk.customers.create({ email: "ada@example.com" });
  expect(await sdk.customers.update(customer.id, { email: "ada@example.nl" })).toMatchObject({
    id: customer.id,
  });
  await expect(new Stripe("sk_test_other", { host, port, protocol: "http" }).refunds.create({})).rejects.toMatchObject({
    type: "StripeAuthenticationError",
  });
  const declined = await all.stripe.confirm((await create(500)).client_secret, DECLINED);
  expect(declined).toMatchObject({ status: 402, body: { error: { code: "card_declined" } } });
});

describe("before the order", () => {
  test("Stripe first, then a card: a new session covers the remainder, and the old intent is canceled", async () => {
    const cartId = await all.shop.storefront.createCart();
    const old = { cartId, cards: [], session: await all.chooseStripe(cartId) };
    await all.stripe.confirm(old.session.clientSecret, VISA);
    const { cart } = await applyMore(old, 5000);
    expect(intentOf(old)).toMatchObject({ status: "canceled", amount: 7498 });
    const anew = { ...cart, session: await all.chooseStripe(cartId) };
    expect(intentOf(anew)).toMatchObject({ status: "requires_payment_method", amount: 2498 });
    await all.stripe.confirm(anew.session.clientSecret, VISA);
    await place(anew);
    await all.expectStanding(anew, { cardCents: 5000, heldCents: 2498 });
  });

  test("two cards, then Stripe", async () => {
    const cart = await confirmed(undefined, 3000, 2000);
    await place(cart);
    await all.expectStanding(cart, { cardCents: 5000, heldCents: 2498 });
  });

  test("cards that cover everything after Stripe authorized: the intent is canceled", async () => {
    const { answer, cart } = await applyMore(await confirmed(), 5000);
    expect(answer.body).toMatchObject({ remainderCents: 0 });
    expect(intentOf(cart).status).toBe("canceled");
    await place(cart);
    await all.expectStanding(cart, { cardCents: 7498 });
  });

  test("a logged-in customer is one customer at Stripe", async () => {
    const { storefront } = all.shop;
    const address = `${crypto.randomUUID()}@example.com`;
    const headers = await storefront.logIn(address);
    const customers = new Set<string | null>();
    for (const balanceCents of [5000, 3000]) {
      const { cartId } = await all.createCart(balanceCents);
      await storefront.send("POST", `/store/carts/${cartId}/customer`, {}, headers);
      const { payment_collection } = await storefront.ok("POST", "/store/payment-collections", {
        cart_id: cartId,
      });
      const path = `/store/payment-collections/${payment_collection.id}/payment-sessions`;
      const { body } = await storefront.send("POST", path, { provider_id: "pp_stripe_stripe" }, headers);
      const [session] = body.payment_collection.payment_sessions;
      customers.add(all.stripe.intents.find(session.data.id).customer);
    }
    const [customer] = all.stripe.customers.filter(({ email }) => email === address);
    expect([...customers]).toEqual([customer?.id]);
  });

  test("Stripe cancels the confirmed payment before the order: it is declined, and a new session pays", async () => {
    const cart = await confirmed();
    all.stripe.intents.cancel(cart.session.intentId, null);
    await all.tell(cart.session.intentId);
    const path = `/store/carts/${cart.cartId}?fields=payment_collection.payment_sessions.status`;
    const statuses = async () => {
      const { cart: read } = await all.shop.storefront.ok("GET", path);
      return read.payment_collection.payment_sessions.map(({ status }: { status: string }) => status);
    };
    await expect.poll(statuses).toEqual(["canceled"]);
    const declined = { body: { code: "payment_authorization_error" } };
    expect(await complete(cart.cartId)).toMatchObject(declined);
    expect(await complete(cart.cartId)).toMatchObject(declined);
    await all.expectStanding(cart, NOTHING);
    const session = await all.chooseStripe(cart.cartId);
    await all.stripe.confirm(session.clientSecret, VISA);
    await place(cart);
    await all.expectStanding(cart, { cardCents: 5000, heldCents: 2498 });
  });

  test("Stripe's response to a session is lost: the request is repeated with its key, and one intent is created", async () => {
    const cart = await all.createCart(5000);
    const before = all.stripe.intents.all().length;
    all.wire.set("create", "cut-after", 1);
    await all.chooseStripe(cart.cartId);
    expect(all.stripe.intents.all()).toHaveLength(before + 1);
    expect(all.stripe.calls.at(-1)).toMatchObject({ path: "/v1/payment_intents", isReplayed: true });
  });

  test("Stripe's response to a cancel is lost: the cards stay, and the next attempt changes them", {
    tags: "long",
  }, async () => {
    const cart = await confirmed();
    all.wire.set("cancel", "cut-after");
    expect((await applyMore(cart, 1000)).answer).toMatchObject(inProgress);
    expect(intentOf(cart).status).toBe("canceled");
    expect((await complete(cart.cartId)).body).toMatchObject({ type: "cart" });
    await all.expectStanding(cart, NOTHING);
    all.wire.clear();
    const { cart: changed } = await applyMore(cart, 1000);
    const session = await all.chooseStripe(cart.cartId);
    await all.stripe.confirm(session.clientSecret, VISA);
    await place(changed);
    await all.expectStanding(changed, { cardCents: 6000, heldCents: 1498 });
  });

  test.each(["a card is applied", "a card is removed", "a ticket is added"])(
    "Stripe captured the remainder, then %s: rejected, and the order is placed as paid",
    async (change) => {
      const cart = await confirmed(AT_ONCE);
      if (change === "a card is applied") expect((await applyMore(cart, 5000)).answer).toMatchObject(inProgress);
      else if (change === "a card is removed") expect(await removeCard(cart)).toMatchObject(inProgress);
      else await expect(all.shop.storefront.addItem(cart.cartId, "open-air-cinema")).rejects.toThrow("500");
      const orderId = await place(cart);
      await all.tell(cart.session.intentId);
      expect(figuresOf(await all.shop.storefront.order(orderId))).toMatchObject({ total: 74.98 });
      await all.expectStanding(cart, { cardCents: 5000, takenCents: 2498 });
    },
  );
});

describe("the shopper's bank", () => {
  test("requires an action: nothing is charged until the shopper responds, then the same intent places the order", async () => {
    const cart = await ready();
    await all.stripe.confirm(cart.session.clientSecret, ASKS_FOR_MORE);
    expect((await complete(cart.cartId)).body).toMatchObject({
      error: { type: "payment_requires_more_error" },
    });
    await all.expectStanding(cart, NOTHING);
    await all.stripe.authenticate(cart.session.clientSecret);
    await place(cart);
    await all.expectStanding(cart, { cardCents: 5000, heldCents: 2498 });
  });

  test("requires an action and the shopper declines: nothing is charged", async () => {
    const cart = await ready();
    await all.stripe.confirm(cart.session.clientSecret, ASKS_FOR_MORE);
    await all.stripe.authenticate(cart.session.clientSecret, "fail");
    await all.tell(cart.session.intentId);
    expect((await complete(cart.cartId)).body).toMatchObject({
      error: { type: "payment_authorization_error" },
    });
    await all.expectStanding(cart, NOTHING);
  });

  test("declines, and another bank card pays with the same intent", async () => {
    const cart = await ready();
    expect(await all.stripe.confirm(cart.session.clientSecret, DECLINED)).toMatchObject({ status: 402 });
    await all.tell(cart.session.intentId);
    await all.stripe.confirm(cart.session.clientSecret, VISA);
    await place(cart);
    await all.expectStanding(cart, { cardCents: 5000, heldCents: 2498 });
  });

  test("declines, the page completes anyway, and Stripe charges later: its webhook places the order", async () => {
    const cart = await ready(AT_ONCE);
    await all.stripe.confirm(cart.session.clientSecret, DECLINED);
    expect((await complete(cart.cartId)).body).toMatchObject({
      error: { type: "payment_authorization_error" },
    });
    await all.stripe.confirm(cart.session.clientSecret, VISA);
    expect(await complete(cart.cartId)).toMatchObject(inProgress);
    await all.tell(cart.session.intentId);
    await all.expectStanding(cart, { cardCents: 5000, takenCents: 2498 });
    await place(cart);
  });

  test("takes days: the order is placed when Stripe confirms the money", async () => {
    const cart = await ready(AT_ONCE);
    await all.stripe.confirm(cart.session.clientSecret, IBAN);
    expect((await complete(cart.cartId)).body).toMatchObject({ type: "cart" });
    await all.tell(cart.session.intentId);
    await all.expectStanding(cart, NOTHING);
    all.stripe.intents.settle(cart.session.intentId);
    await all.tell(cart.session.intentId);
    await all.expectStanding(cart, { cardCents: 5000, takenCents: 2498 });
    await place(cart);
  });
});

describe.each(ways)("Stripe's webhook, %s", (_way, data, standing) => {
  test("arriving late and twice changes nothing", async () => {
    const cart = await placed(data);
    for (let time = 0; time < 2; time += 1) await all.tell(cart.session.intentId);
    await all.expectStanding(cart, standing);
    for (const id of [cart.giftId, cart.stripeId])
      expect(await admin(`payments/${id}/capture`)).toMatchObject({ status: 200 });
    for (let time = 0; time < 2; time += 1) await all.tell(cart.session.intentId);
    await all.expectStanding(cart, { cardCents: 5000, takenCents: 2498 });
    const figures = { paid: 74.98, outstanding: 0, payment_status: "captured" };
    await expect.poll(async () => figuresOf(await all.shop.storefront.order(cart.orderId))).toMatchObject(figures);
  });

  test("arriving twice without a page places one order, and the page gets that order", async () => {
    const cart = await confirmed(data);
    await Promise.all([all.tell(cart.session.intentId), all.tell(cart.session.intentId)]);
    await all.expectStanding(cart, standing);
    await place(cart);
  });

  test.each(["one process", "two processes"])("arriving while the page completes, in %s: one order", async (where) => {
    const url = where === "one process" ? all.shop.medusa.url : peer.medusa.url;
    for (let round = 0; round < ROUNDS; round += 1) {
      const cart = await confirmed(data);
      // Over the rounds, each comes first sometimes and they race at different steps.
      const [pageMs = 0, hookMs = 0] = round % 2 === 0 ? [0, round * 40] : [round * 40, 0];
      const tell = () => all.tell(cart.session.intentId, undefined, url);
      const [answer] = await Promise.all([
        after(pageMs, () => complete(cart.cartId)),
        ...[after(hookMs, tell), after(hookMs, tell)],
      ]);
      if (answer.body.type !== "order") expect(answer).toMatchObject(inProgress);
      await all.expectStanding(cart, standing);
      await place(cart);
    }
  });
});

test("a webhook's completion in another process that holds Medusa's lock also gets the turn, and the page gets the order", {
  tags: "long",
}, async () => {
  const cart = await confirmed();
  const { cartId } = cart;
  const owner = ["another process", cartId];
  // Runs that process until it waits for the turn.
  await all.query("insert into locking (owner_id, id) values ($1, $2)", owner);
  const call = complete(cartId);
  const holders = () => all.query("select from giftcard_cart_lease where cart_id = $1", [cartId]);
  await expect.poll(holders, { interval: 20 }).toHaveLength(1);
  const take = `insert into giftcard_cart_lease (owner, cart_id, until) values ($1, $2, now() + interval '1 minute')
    on conflict (cart_id) do update set owner = excluded.owner, gives_way = false where giftcard_cart_lease.gives_way
    returning cart_id`;
  await expect.poll(() => all.query(take, owner), { interval: 50 }).toHaveLength(1);
  await all.query("delete from locking where owner_id = $1 and id = $2", owner);
  await all.query("delete from giftcard_cart_lease where owner = $1 and cart_id = $2", owner);
  expect((await call).body).toMatchObject({ type: "order" });
  await all.expectStanding(cart, { cardCents: 5000, heldCents: 2498 });
});

describe("a gift card is rejected when the order is placed", () => {
  test("Stripe holds the remainder: released when the shopper removes the card and pays everything by Stripe", async () => {
    const cart = await confirmed();
    await block(cart);
    expect(await complete(cart.cartId)).toMatchObject(refused);
    await all.tell(cart.session.intentId);
    expect(await completeAlone(cart.cartId)).toMatchObject(refused);
    expect((await removeCard(cart)).status).toBe(200);
    await all.expectStanding(cart, NOTHING);
    expect(intentOf(cart).status).toBe("canceled");
    const session = await all.chooseStripe(cart.cartId);
    await all.stripe.confirm(session.clientSecret, VISA);
    await place(cart);
    await all.expectStanding(cart, { heldCents: 7498 });
  });

  test("Stripe captured the remainder: its webhook refunds it once, and the cart can be paid again", {
    tags: "long",
  }, async () => {
    const cart = await confirmed(AT_ONCE);
    await block(cart);
    expect(await complete(cart.cartId)).toMatchObject(refused);
    expect(await removeCard(cart)).toMatchObject(inProgress);
    await Promise.all([all.tell(cart.session.intentId), all.tell(cart.session.intentId)]);
    await expect.poll(() => keysOf(cart, "give back")).toHaveLength(1);
    await all.expectStanding(cart, NOTHING);
    expect((await removeCard(cart)).status).toBe(200);
    const session = await all.chooseStripe(cart.cartId, AT_ONCE);
    await all.stripe.confirm(session.clientSecret, VISA);
    await place(cart);
    await all.expectStanding(cart, { takenCents: 7498 });
  });
});

test("Stripe's response is lost when the order is placed: the card is reversed, and the next attempt places it", async () => {
  const cart = await confirmed();
  all.wire.set("retrieve", "cut-after");
  expect(await complete(cart.cartId)).toMatchObject({ status: 500, body: { code: "internal" } });
  const [card] = cart.cards;
  expect(card && (await all.shop.balanceCents(card))).toBe(5000);
  all.wire.clear();
  await place(cart);
  await all.expectStanding(cart, { cardCents: 5000, heldCents: 2498 });
});

describe("the order in the admin", () => {
  test("captured later and partly refunded, even if a response is lost: once", async () => {
    const cart = await placed();
    for (const id of [cart.giftId, cart.stripeId])
      expect(await admin(`payments/${id}/capture`)).toMatchObject({ status: 200 });
    await all.expectStanding(cart, { cardCents: 5000, takenCents: 2498 });
    all.wire.set("refund", "cut-after", 1);
    expect(await admin(`payments/${cart.stripeId}/refund`, { amount: 9.99 })).toMatchObject({ status: 200 });
    expect(keysOf(cart, "give back")).toHaveLength(1);
    await all.expectStanding(cart, { cardCents: 5000, takenCents: 1499 });
    const figures = { paid: 74.98, refunded: 9.99, outstanding: 0 };
    expect(figuresOf(await all.shop.storefront.order(cart.orderId))).toMatchObject(figures);
  });

  test.each(["asked again", "told by the webhook"])(
    "captured without a response: %s, Medusa learns of it, and it is captured once",
    async (how) => {
      const cart = await placed();
      all.wire.set("capture", "cut-after");
      expect((await admin(`payments/${cart.stripeId}/capture`)).status).toBe(500);
      all.wire.clear();
      if (how === "asked again") expect((await admin(`payments/${cart.stripeId}/capture`)).status).toBe(200);
      else await all.tell(cart.session.intentId, ["succeeded"]);
      await all.expectStanding(cart, { cardCents: 5000, takenCents: 2498 });
      expect(keysOf(cart, "take")).toHaveLength(1);
    },
  );

  test.each(ways)("canceled, %s: everything is refunded", async (_way, data) => {
    const cart = await placed(data);
    expect((await admin(`orders/${cart.orderId}/cancel`)).status).toBe(200);
    await all.tell(cart.session.intentId);
    await all.expectStanding(cart, NOTHING);
  });

  test.each(["cut-before", "cut-after"] as const)(
    "canceled, and Stripe's cancel is %s: recovery cancels it",
    async (fault) => {
      const cart = await placed();
      all.wire.set("cancel", fault);
      expect((await admin(`orders/${cart.orderId}/cancel`)).status).toBe(200);
      all.wire.clear();
      await all.shop.passTime(LEASE_MS);
      await all.expectStanding(cart, NOTHING);
      expect(keysOf(cart, "release")).toHaveLength(1);
    },
  );

  test.each(["cut-before", "cut-after"] as const)(
    "canceled, and Stripe's refund is %s: a person is alerted, checks, and retries it",
    async (fault) => {
      const cart = await placed(AT_ONCE);
      all.wire.set("refund", fault);
      expect((await admin(`orders/${cart.orderId}/cancel`)).status).toBe(200);
      all.wire.clear();
      await all.shop.passTime(LEASE_MS);
      const job = async () => {
        const { jobs } = await all.shop.storefront.ok("GET", "/admin/giftcard-pay/jobs?limit=200");
        return jobs.find(({ id }: { id: string }) => id === cart.stripeId);
      };
      const told = {
        orderId: cart.orderId,
        lastError: expect.stringContaining("nobody knows whether it was made"),
      };
      await expect.poll(job, { interval: 300 }).toMatchObject(told);
      expect(keysOf(cart, "give back")).toHaveLength(fault === "cut-before" ? 0 : 1);
      const retry = await admin(`giftcard-pay/jobs/release_payment/${cart.stripeId}/retry`);
      expect(retry.body).toEqual({ job: null });
      await all.expectStanding(cart, NOTHING);
      expect(keysOf(cart, "give back")).toHaveLength(1);
    },
  );

  test("refunds a return without a response from Stripe: the person is advised to check at Stripe first", {
    tags: "long",
  }, async () => {
    const cart = await placed(AT_ONCE);
    await admin(`payments/${cart.giftId}/capture`);
    await all.shop.storefront.returnItem(cart.orderId, 1, 1);
    const path = `/admin/giftcard-pay/orders/${cart.orderId}/refund`;
    const { refund } = await all.shop.storefront.ok("GET", path);
    all.wire.set("refund", "cut-before");
    const { body } = await all.shop.storefront.send("POST", path, refund.splits[0]);
    expect(body.message).toMatch(/50\.00 of it is definitely refunded.*check the method before you try again/);
    all.wire.clear();
    const left = (await all.shop.storefront.ok("GET", path)).refund;
    expect(left).toMatchObject({ owedCents: 2498 });
    await all.shop.storefront.ok("POST", path, left.splits[0]);
    await all.expectStanding(cart, NOTHING);
  });
});
