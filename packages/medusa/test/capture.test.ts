import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { editTo, fulfil } from "./support/order-admin.js";
import { startShop, type TestShop } from "./support/shop.js";
import type { Card } from "./support/storefront.js";

const LEASE_MS = 30_000;

let shop: TestShop;
let database: pg.Client;
beforeAll(async () => {
  const options = { capture: null, charges: null, allowPromisedRemainder: true, leaseMs: LEASE_MS };
  shop = await startShop({ TEST_RECOVER_BY_HAND: "yes" }, options);
  await shop.storefront.createProduct("aria", 24.95);
  await shop.storefront.createProduct("half-cent", 33.335);
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterEach(async () => {
  shop.proxy.clear();
  await shop.proxy.release();
  await database.query("drop function if exists stops_captures() cascade");
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

interface Purchase {
  readonly orderId: string;
  readonly cards: readonly Card[];
}

interface Basket {
  readonly goods?: readonly [handle: string, quantity: number][];
  readonly balancesCents?: readonly number[];
  readonly codes?: readonly string[];
  /** The bank's next action. */
  readonly data?: Record<string, unknown>;
}

/** Buys for 74.98: 50.00 from a card, 24.98 by the bank. */
async function buy({ goods = [["summer-night-festival", 1]], balancesCents = [7500], codes = [], data }: Basket = {}) {
  const { storefront, service } = shop;
  const [[first, count], ...more] = goods as [[string, number], ...[string, number][]];
  const cartId = await storefront.createCart(first, count);
  for (const [handle, quantity] of more) await storefront.addItem(cartId, handle, quantity);
  if (codes.length > 0) await storefront.ok("POST", `/store/carts/${cartId}/promotions`, { promo_codes: codes });
  const cards: Card[] = [];
  let remainderCents = 1;
  for (const balanceCents of balancesCents) {
    const card = await service.issueCard({ balanceCents });
    const { status, body } = await storefront.apply(cartId, card);
    expect(status, JSON.stringify(body)).toBe(200);
    cards.push(card);
    remainderCents = body.remainderCents;
  }
  let sessionId = "";
  if (remainderCents > 0) {
    const { body } = await storefront.initiate(cartId, "pp_bank_bank", data);
    sessionId = body.payment_collection.payment_sessions[0].id;
  }
  const { body } = await storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  return { orderId: body.order.id as string, cartId, cards, sessionId };
}

const admin = (method: string, path: string, body?: unknown) =>
  shop.storefront.send(method, `/admin/giftcard-pay/${path}`, body);
const recover = () => shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
/** Lets recovery find what is older than a lease. */
async function recoverLater() {
  await shop.passTime(LEASE_MS + 1000);
  return recover();
}
const jobOf = async (orderId: string) =>
  (await admin("GET", "jobs")).body.jobs.find((job: { orderId: string }) => job.orderId === orderId) ?? null;

/** The cents that Medusa has captured from cards and by the bank, by payments, and as the order's summary counts them. */
async function capturedOf({ orderId }: Pick<Purchase, "orderId">) {
  const order = await shop.storefront.order(orderId);
  const { gifts, others } = paymentsOf(order);
  const cents = (amounts: number[]) => amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0);
  const of = (payments: { captures: { amount: number }[] }[]) =>
    cents(payments.flatMap(({ captures }) => captures.map(({ amount }) => amount)));
  const bookings = order.transactions.filter(({ reference }: { reference: string }) => reference === "capture");
  const [booked, paid] = [cents(bookings.map(({ amount }: { amount: number }) => amount)), order.summary.paid_total];
  expect(Math.round(paid * 100)).toBe(booked);
  expect(Math.round(order.payment_collections[0].captured_amount * 100)).toBe(of(gifts) + of(others));
  return { cards: of(gifts), bank: of(others), booked };
}

/** Waits until the shop has captured this much from cards, and nothing else. */
const untilCaptured = (purchase: Pick<Purchase, "orderId">, cards: number, bank = 0) =>
  expect
    .poll(() => capturedOf(purchase), { interval: 200, timeout: 20_000 })
    .toEqual({ cards, bank, booked: cards + bank });

/** Makes the database refuse captures of cards, so that each of them fails. */
const stopCaptures = () =>
  database.query(`create function stops_captures() returns trigger language plpgsql as $$ begin
    if (select provider_id from payment where id = new.payment_id) = 'pp_giftcard_giftcard'
    then raise exception 'no captures'; end if; return new; end $$;
    create trigger stops_captures before insert on capture for each row execute function stops_captures()`);
const allowCaptures = () => database.query("drop function stops_captures() cascade");

const capture = (id: string) => shop.storefront.send("POST", `/admin/payments/${id}/capture`, {});
const tell = (action: string, sessionId: string, amount = 24.98) =>
  fetch(`${shop.medusa.url}/hooks/payment/bank_bank`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action, session_id: sessionId, amount }),
  });
const bankOf = async (orderId: string) => paymentsOf(await shop.storefront.order(orderId)).others[0].id as string;
const giftsOf = async (orderId: string) =>
  paymentsOf(await shop.storefront.order(orderId)).gifts.map(({ id }) => id as string);
const balancesOf = ({ cards }: Purchase) => Promise.all(cards.map((card) => shop.balanceCents(card)));

describe("by default, a card is captured when its order is placed", () => {
  test("and the bank's payment isn't", async () => {
    const bought = await buy();
    await untilCaptured(bought, 5000);
    const order = await shop.storefront.order(bought.orderId);
    expect(figuresOf(order)).toMatchObject({ paid: 50, outstanding: 24.98, payment_status: "partially_captured" });
    const { charges } = (await admin("GET", `orders/${bought.orderId}`)).body;
    expect(charges.map(({ state }: { state: string }) => state)).toEqual(["captured"]);
    // Nothing is left to do.
    await recoverLater();
    await untilCaptured(bought, 5000);
  });

  test("with two cards, VAT, 10 % off and fractions of a cent", async () => {
    const goods = [
      ["aria", 3],
      ["half-cent", 1],
    ] as [string, number][];
    const bought = await buy({ goods, balancesCents: [1234, 3456], codes: ["TEN"] });
    await untilCaptured(bought, 1234 + 3456);
  });

  test("all of it, if cards cover the order", { tags: "long" }, async () => {
    const bought = await buy({ goods: [["aria", 3]], balancesCents: [5000, 5000], codes: ["TEN"] });
    await untilCaptured(bought, 6737);
    expect(figuresOf(await shop.storefront.order(bought.orderId))).toMatchObject({ payment_status: "captured" });
  });

  test("once, if people capture at the same moment", { tags: "long" }, async () => {
    const bought = await buy();
    const [gift] = await giftsOf(bought.orderId);
    const answers = await Promise.all([1, 2, 3].map(() => capture(String(gift))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await untilCaptured(bought, 5000);
    await recoverLater();
    expect(await capturedOf(bought)).toEqual({ cards: 5000, bank: 0, booked: 5000 });
  });

  test("together with a webhook's capture of the remainder", async () => {
    for (let round = 0; round < 3; round++) {
      const bought = await buy();
      expect((await tell("captured", bought.sessionId)).status).toBe(200);
      await untilCaptured(bought, 5000, 2498);
      expect(figuresOf(await shop.storefront.order(bought.orderId))).toMatchObject({
        ...{ paid: 74.98, outstanding: 0, payment_status: "captured" },
      });
    }
  });

  test("and refunded if the order is canceled, before or after", { tags: "long" }, async () => {
    const bought = await buy();
    const canceled = await shop.storefront.send("POST", `/admin/orders/${bought.orderId}/cancel`, {});
    expect(canceled.status).toBe(200);
    const later = await buy();
    await untilCaptured(later, 5000);
    await shop.storefront.ok("POST", `/admin/orders/${later.orderId}/cancel`, {});
    await recoverLater();
    for (const purchase of [bought, later]) {
      expect(await balancesOf(purchase)).toEqual([7500]);
      expect((await shop.storefront.order(purchase.orderId)).status).toBe("canceled");
    }
    const { charges } = (await admin("GET", `orders/${bought.orderId}`)).body;
    expect(charges).toMatchObject([{ state: "reversed" }]);
  });

  test("never, if nobody pays the pending remainder", { tags: "long" }, async () => {
    const bought = await buy({ data: { behaviour: "pending_authorization" } });
    await recoverLater();
    expect(await capturedOf(bought)).toEqual({ cards: 0, bank: 0, booked: 0 });
    expect((await tell("failed", bought.sessionId)).status).toBe(200);
    await expect.poll(() => balancesOf(bought), { timeout: 20_000 }).toEqual([7500]);
    await recoverLater();
    await expect.poll(async () => (await shop.storefront.order(bought.orderId)).status).toBe("canceled");
  });

  test("once the pending remainder is paid", async () => {
    const bought = await buy({ data: { behaviour: "pending_authorization" } });
    expect((await tell("captured", bought.sessionId)).status).toBe(200);
    await expect.poll(async () => (await capturedOf(bought)).bank, { interval: 200, timeout: 20_000 }).toBe(2498);
    await recoverLater();
    await untilCaptured(bought, 5000, 2498);
  });

  test("later, if many orders arrive at once", { tags: "long" }, async () => {
    const bought = await Promise.all(Array.from({ length: 5 }, () => buy()));
    for (const purchase of bought) await untilCaptured(purchase, 5000);
  });

  test("and kept, since an edit for which Medusa would void the remainder is refused", { tags: "long" }, async () => {
    const bought = await buy();
    await untilCaptured(bought, 5000);
    await expect(editTo(shop.storefront, bought.orderId, "summer-night-festival", 2)).rejects.toThrow(
      /24\.98 of this order is authorized .* Medusa would void it/,
    );
    expect(await balancesOf(bought)).toEqual([2500]);
  });
});

describe("recovery captures", () => {
  test("an order whose event was lost, also in two processes at once", { tags: "long" }, async () => {
    await stopCaptures();
    const bought = await buy();
    const isTried = () => shop.medusa.logs().includes(`the cards of order ${bought.orderId} aren't captured yet`);
    await expect.poll(isTried, { timeout: 20_000 }).toBe(true);
    await allowCaptures();
    // Its completion might still be running.
    await recover();
    expect(await capturedOf(bought)).toEqual({ cards: 0, bank: 0, booked: 0 });
    const peer = await shop.startPeer();
    await shop.passTime(LEASE_MS + 1000);
    await Promise.all([recover(), peer.storefront.ok("POST", "/admin/giftcard-pay/recover", {})]);
    await untilCaptured(bought, 5000);
    await peer.medusa.stop();
  });

  test("later, if a person retries, or never, if a person exempts the order", { tags: "long" }, async () => {
    await stopCaptures();
    const bought = await buy();
    const exempt = await buy();
    await shop.passTime(LEASE_MS + 1000);
    // The shop is busy with two orders for a moment.
    const jobs = async () => {
      await recover();
      return [await jobOf(bought.orderId), await jobOf(exempt.orderId)];
    };
    await expect
      .poll(jobs, { interval: 500, timeout: 20_000 })
      .toMatchObject([{ kind: "capture" }, { kind: "capture" }]);
    expect((await admin("POST", `jobs/capture/${bought.orderId}/retry`)).body).toMatchObject({ job: { tries: 2 } });
    expect((await admin("POST", `jobs/capture/${exempt.orderId}/exempt`)).status).toBe(200);
    await allowCaptures();
    expect((await admin("POST", `jobs/capture/${bought.orderId}/retry`)).body).toEqual({ job: null });
    await recover();
    expect(await capturedOf(bought)).toEqual({ cards: 5000, bank: 0, booked: 5000 });
    expect(await capturedOf(exempt)).toEqual({ cards: 0, bank: 0, booked: 0 });
    // Its remainder's capture doesn't capture the card either. The shop captures in the order of events.
    expect((await tell("captured", exempt.sessionId)).status).toBe(200);
    await expect.poll(async () => (await capturedOf(exempt)).bank, { interval: 200, timeout: 20_000 }).toBe(2498);
    await untilCaptured(await buy(), 5000);
    expect(await capturedOf(exempt)).toMatchObject({ cards: 0, bank: 2498 });
    const [gift] = await giftsOf(exempt.orderId);
    expect((await capture(String(gift))).status).toBe(200);
  });

  test("what a crash has left half captured, once", { tags: "long", timeout: 120_000 }, async () => {
    // The process dies after Medusa's capture, before the order has it.
    await database.query(`create function stops_captures() returns trigger language plpgsql as $$ begin
      if new.reference = 'capture' then perform pg_sleep(60); end if; return new; end $$;
      create trigger stops_captures before insert on order_transaction for each row execute function stops_captures()`);
    const bought = await buy();
    const begun = () =>
      database.query("select 1 from pg_stat_activity where wait_event = 'PgSleep'").then(({ rowCount }) => rowCount);
    await expect.poll(begun, { timeout: 20_000 }).toBe(1);
    await shop.crash();
    await database.query("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'");
    await database.query("drop function stops_captures() cascade");
    await shop.restart();
    await recoverLater();
    await recoverLater();
    await untilCaptured(bought, 5000);
  });

  test("what a crash has left uncaptured, in the next process", { tags: "long", timeout: 120_000 }, async () => {
    await stopCaptures();
    const bought = await buy();
    await shop.crash();
    await allowCaptures();
    await shop.restart();
    await recoverLater();
    await untilCaptured(bought, 5000);
  });
});

test('with capture: "manual", a card is captured by hand', { tags: "long", timeout: 120_000 }, async () => {
  await shop.crash();
  await shop.restart({ capture: "manual" });
  const bought = await buy();
  await fulfil(shop.storefront, bought.orderId, ["summer-night-festival"]);
  await capture(await bankOf(bought.orderId));
  await recoverLater();
  expect(await capturedOf(bought)).toMatchObject({ cards: 0 });
  const [gift] = await giftsOf(bought.orderId);
  expect((await capture(String(gift))).status).toBe(200);
  expect(await capturedOf(bought)).toMatchObject({ cards: 5000 });
});
