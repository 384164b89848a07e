import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";
import type { Card } from "./support/storefront.js";

const BANK = "pp_bank_bank";

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("whole");
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  await database.query(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'the disk is full'; end $$`);
  await shop.storefront.createProduct("odd-price", 53.5262);
});
afterEach(() => database.query("drop trigger if exists fault on order_transaction"));
afterAll(() => database?.end());

const readPaidBy = (orderId: string, headers: Record<string, string> = {}) =>
  shop.storefront.send("GET", `/store/giftcard-pay/orders/${orderId}`, undefined, headers);

const issue = (balanceCents: number) => shop.service.issueCard({ balanceCents });
const pay = (what: "capture" | "refund", { id }: { id: string }, amount?: number) =>
  shop.storefront.ok("POST", `/admin/payments/${id}/${what}`, amount === undefined ? {} : { amount });

/** The expected entry of a card, or of the bank, in the record. */
const byCard = ({ cardNumber }: Card, amountCents: number, refundedCents = 0) => ({
  ...{ lastFour: cardNumber.slice(-4), amountCents, refundedCents },
});
const byBank = (amountCents: number, refundedCents = 0) => ({
  ...{ providerId: BANK, amountCents, refundedCents },
});

async function cartWith(cards: readonly Card[], handle?: string): Promise<string> {
  const cartId = await shop.storefront.createCart(handle);
  for (const card of cards) expect((await shop.storefront.apply(cartId, card)).status).toBe(200);
  return cartId;
}

async function complete(cartId: string): Promise<string> {
  const { body } = await shop.storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  return body.order.id;
}

/** A guest's order of 74.98, paid by two cards and the bank. */
async function buy() {
  const [first, second] = [await issue(1875), await issue(1234)];
  const cartId = await cartWith([first, second]);
  await shop.storefront.initiate(cartId);
  const orderId = await complete(cartId);
  const { gifts, others } = paymentsOf(await shop.storefront.order(orderId));
  const of = (amount: number) => [...gifts, ...others].find((payment) => payment.amount === amount) as { id: string };
  return { first, second, orderId, payments: [of(18.75), of(12.34), of(43.89)] as const };
}

describe("how an order was paid", () => {
  test("lists cards first in order of charging, then the bank, adding up to the total", async () => {
    const { first, second, orderId } = await buy();
    const answer = await readPaidBy(orderId);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toEqual({
      ...{ orderId, currency: "EUR", totalCents: 7498, dueCents: 0 },
      cards: [byCard(first, 1875), byCard(second, 1234)],
      others: [byBank(4389)],
    });
    for (const { cardNumber } of [first, second]) expect(JSON.stringify(answer.body)).not.toContain(cardNumber);
  });

  test("shows how much was refunded to each", { tags: "long" }, async () => {
    const { first, second, orderId, payments } = await buy();
    for (const payment of payments) await pay("capture", payment);
    await pay("refund", payments[2], 40);
    await pay("refund", payments[0]);
    expect((await readPaidBy(orderId)).body).toMatchObject({
      cards: [byCard(first, 1875, 1875), byCard(second, 1234)],
      others: [byBank(4389, 4000)],
    });
    expect(await shop.balanceCents(first)).toBe(1875);
  });

  test("counts a pending reversal as refunded while the service is down", { tags: "long" }, async () => {
    const { first, second, orderId, payments } = await buy();
    for (const payment of payments) await pay("capture", payment);
    shop.proxy.set("canceldevalue", "cut-before");
    await pay("refund", payments[1]);
    shop.proxy.clear();
    expect(await shop.balanceCents(second)).toBe(0);
    const { cards } = (await readPaidBy(orderId)).body;
    expect(cards).toEqual([byCard(first, 1875), byCard(second, 1234, 1234)]);
  });

  test("lists no canceled payment; a canceled order that was captured is refunded in full", {
    tags: "long",
  }, async () => {
    const authorized = await buy();
    await shop.storefront.ok("POST", `/admin/orders/${authorized.orderId}/cancel`, {});
    expect((await readPaidBy(authorized.orderId)).body).toMatchObject({ cards: [], others: [] });
    const captured = await buy();
    for (const payment of captured.payments) await pay("capture", payment);
    await shop.storefront.ok("POST", `/admin/orders/${captured.orderId}/cancel`, {});
    expect((await readPaidBy(captured.orderId)).body).toMatchObject({
      cards: [byCard(captured.first, 1875, 1875), byCard(captured.second, 1234, 1234)],
      others: [byBank(4389, 4389)],
    });
  });

  test("omits an earlier attempt that was reversed before the order was placed", { tags: "long" }, async () => {
    const card = await issue(7500);
    const cartId = await cartWith([card]);
    await shop.storefront.initiate(cartId, BANK, { behaviour: "captured" });
    await database.query(
      "create trigger fault before insert on order_transaction for each row execute function refuse()",
    );
    expect((await shop.storefront.complete(cartId)).body.type).not.toBe("order");
    await database.query("drop trigger fault on order_transaction");
    await shop.storefront.initiate(cartId, BANK, { behaviour: "captured" });
    const orderId = await complete(cartId);
    const { others } = paymentsOf(await shop.storefront.order(orderId));
    expect(others).toHaveLength(2);
    expect((await readPaidBy(orderId)).body).toMatchObject({
      ...{ totalCents: 7498, cards: [byCard(card, 5000)], others: [byBank(2498)] },
    });
  });

  test("is in whole cents if Medusa has a fraction of a cent, and adds up to the total", { tags: "long" }, async () => {
    const [first, second] = [await issue(7500), await issue(7500)];
    const split = await cartWith([first], "odd-price");
    await shop.storefront.initiate(split);
    expect((await readPaidBy(await complete(split))).body).toMatchObject({
      ...{ totalCents: 5353, cards: [byCard(first, 5000)], others: [byBank(353)] },
    });
    const covered = await cartWith([second, await issue(7500)], "odd-price");
    expect((await readPaidBy(await complete(covered))).body).toMatchObject({
      ...{ totalCents: 5353, cards: [byCard(second, 5000), { amountCents: 353 }], others: [] },
    });
  });

  test("is available for an order without a card", { tags: "long" }, async () => {
    const cartId = await cartWith([]);
    await shop.storefront.initiate(cartId);
    expect((await readPaidBy(await complete(cartId))).body).toMatchObject({
      ...{ totalCents: 7498, cards: [], others: [byBank(7498)] },
    });
  });
});

describe("access to how an order was paid", () => {
  test("a customer sees their own orders only", { tags: "long" }, async () => {
    const { logIn } = shop.storefront;
    const [ada, bob] = [await logIn("ada@example.org"), await logIn("bob@example.org")];
    const cartId = await cartWith([await issue(7500)]);
    const taken = await shop.storefront.send("POST", `/store/carts/${cartId}/customer`, {}, ada);
    expect(taken.status).toBe(200);
    await shop.storefront.initiate(cartId);
    const orderId = await complete(cartId);
    expect(await readPaidBy(orderId, ada)).toMatchObject({ status: 200, body: { orderId } });
    const refused = await readPaidBy(orderId, bob);
    expect(refused).toMatchObject({ status: 404, body: { type: "not_found" } });
    expect(refused.headers.get("cache-control")).toBe("no-store");
    const { orderId: guests } = await buy();
    expect((await readPaidBy(guests, ada)).status).toBe(404);
  });

  test("a guest needs the order's id, as at Medusa's own route", async () => {
    const { orderId } = await buy();
    const asked = async (path: string) => (await shop.storefront.send("GET", path)).status;
    for (const [id, status] of [
      [orderId, 200],
      ["order_01", 404],
      ["%00", 404],
    ] as const)
      expect(await asked(`/store/giftcard-pay/orders/${id}`), id).toBe(status);
    await database.query(`update "order" set is_draft_order = true where id = $1`, [orderId]);
    expect(await asked(`/store/orders/${orderId}`)).toBe(404);
    expect(await asked(`/store/giftcard-pay/orders/${orderId}`)).toBe(404);
    const noKey = await fetch(`${shop.medusa.url}/store/giftcard-pay/orders/${orderId}`);
    expect(noKey.status).toBe(400);
  });

  test("an order in another currency is a 404, since cards pay in euro only", async () => {
    const { orderId } = await buy();
    await database.query(`update "order" set currency_code = 'usd' where id = $1`, [orderId]);
    expect((await readPaidBy(orderId)).status).toBe(404);
  });
});
