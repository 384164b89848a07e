import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";
import type { Answer } from "./support/storefront.js";

let shop: SharedShop;
beforeAll(async () => {
  shop = await sharedShop("whole");
  await shop.storefront.createProduct("poster", 20);
});

const refundWords = {
  status: 400,
  body: {
    message: expect.stringMatching(/as a whole: 50\.00 euro\. Nothing was refunded\. Refund the order's other/),
  },
};

/** A guest's paid order for a poster of 20.00 and a ticket of 74.98: 50.00 from a card, 44.98 by the bank. */
async function buy() {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart("poster");
  await storefront.addItem(cartId, "summer-night-festival");
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  const { order } = (await storefront.complete(cartId)).body;
  const { gifts, others } = paymentsOf(await storefront.order(order.id));
  for (const { id } of [...gifts, ...others]) await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  expect(await shop.balanceCents(card)).toBe(2500);
  return {
    card,
    orderId: order.id as string,
    giftId: gifts[0].id as string,
    otherId: others[0].id as string,
  };
}

const refund = (paymentId: string, amount: number, note?: string) =>
  shop.storefront.send("POST", `/admin/payments/${paymentId}/refund`, { amount, note });

const outstanding = async (orderId: string) => figuresOf(await shop.storefront.order(orderId)).outstanding;

async function itemsOf(orderId: string) {
  const { order } = await shop.storefront.ok(
    "GET",
    `/admin/orders/${orderId}?fields=id,items.id,items.unit_price,items.variant_id`,
  );
  const [poster, ticket] = [20, 74.98].map((price) =>
    order.items.find((item: { unit_price: number }) => item.unit_price === price),
  );
  return { poster, ticket };
}

async function edit(orderId: string, change: (path: string) => Promise<unknown>) {
  const { storefront } = shop;
  await storefront.ok("POST", "/admin/order-edits", { order_id: orderId });
  await change(`/admin/order-edits/${orderId}`);
  await storefront.ok("POST", `/admin/order-edits/${orderId}/confirm`, {});
}

describe("an edited order", () => {
  test("with a higher total leaves the difference to another payment method", async () => {
    const { storefront } = shop;
    const { card, orderId } = await buy();
    const { poster } = await itemsOf(orderId);
    await edit(orderId, (path) => storefront.ok("POST", `${path}/items/item/${poster.id}`, { quantity: 3 }));
    expect(figuresOf(await storefront.order(orderId))).toMatchObject({ total: 134.98, outstanding: 40 });
    const { payment_collections } = (
      await storefront.ok("GET", `/admin/orders/${orderId}?fields=id,*payment_collections`)
    ).order;
    const open = payment_collections.find((one: { amount: number; status: string }) => one.amount === 40);
    await storefront.ok("POST", `/admin/payment-collections/${open.id}/mark-as-paid`, { order_id: orderId });
    expect(await outstanding(orderId)).toBe(0);
    expect(await shop.balanceCents(card)).toBe(2500);
  });

  test("with a higher total keeps a card capture that races with Medusa's void", { tags: "long" }, async () => {
    const { storefront } = shop;
    const { card, orderId, giftId } = await buy();
    const { poster } = await itemsOf(orderId);
    // The order as Medusa read it a moment earlier.
    const database = new pg.Client({ connectionString: shop.databaseUrl });
    await database.connect();
    try {
      await database.query("update payment set captured_at = null where id = $1", [giftId]);
      await database.query(
        `update payment_collection set status = 'authorized', captured_amount = null, raw_captured_amount = null
         where id = (select payment_collection_id from payment where id = $1)`,
        [giftId],
      );
      await edit(orderId, (path) => storefront.ok("POST", `${path}/items/item/${poster.id}`, { quantity: 3 }));
      const { rows } = await database.query("select canceled_at from payment where id = $1", [giftId]);
      expect(rows).toEqual([{ canceled_at: null }]);
    } finally {
      await database.end();
    }
    expect(shop.medusa.logs()).toContain("This gift card payment is captured: refund it instead.");
    expect(await shop.balanceCents(card)).toBe(2500);
  });

  test("with a total below the card's amount names the refunds that are possible, and they are", {
    tags: "long",
  }, async () => {
    const { storefront } = shop;
    const { card, orderId, giftId, otherId } = await buy();
    const { ticket } = await itemsOf(orderId);
    await edit(orderId, (path) => storefront.ok("POST", `${path}/items/item/${ticket.id}`, { quantity: 0 }));
    expect(figuresOf(await storefront.order(orderId))).toMatchObject({ total: 20, outstanding: -74.98 });
    expect(await refund(giftId, 30)).toMatchObject(refundWords);
    expect((await refund(otherId, 44.98)).status).toBe(200);
    expect(await outstanding(orderId)).toBe(-30);
    expect(await refund(giftId, 30)).toMatchObject(refundWords);
    expect(await shop.balanceCents(card)).toBe(2500);
    expect((await refund(giftId, 50, "a card is refunded as a whole")).status).toBe(200);
    expect(await shop.balanceCents(card)).toBe(7500);
    // Medusa waives whatever any payment is refunded above what is owed.
    expect(figuresOf(await storefront.order(orderId))).toMatchObject({
      ...{ total: 0, paid: 94.98, refunded: 94.98, outstanding: 0, payment_status: "refunded" },
    });
  });
});

describe("while an order has an open edit", () => {
  const expectOpen = ({ status, body }: Answer) => {
    expect({ status, code: body.code }).toEqual({ status: 400, code: "invalid_request" });
    expect(body.message).toMatch(/is open: confirm or cancel it/);
  };

  test("and no edit can begin during a cancel: the cancel is complete", { tags: "long" }, async () => {
    const { storefront } = shop;
    const card = await shop.service.issueCard({ balanceCents: 7500 });
    const cartId = await storefront.createCart("poster");
    await storefront.addItem(cartId, "summer-night-festival");
    await storefront.apply(cartId, card);
    await storefront.initiate(cartId, "pp_bank_bank", { canceling: "slow" });
    const { order } = (await storefront.complete(cartId)).body;
    const canceling = storefront.send("POST", `/admin/orders/${order.id}/cancel`, {});
    await expect.poll(() => shop.medusa.logs()).toContain("the bank is asked to cancel");
    const begin = await storefront.send("POST", "/admin/order-edits", { order_id: order.id });
    expect((await canceling).status).toBe(200);
    expect(begin.status).toBe(400);
    expect((await storefront.order(order.id)).status).toBe("canceled");
    expect(await shop.balanceCents(card)).toBe(7500);
  });

  test("a cancel is rejected as a whole: payments stay until the edit ends", { tags: "long" }, async () => {
    const { storefront, service } = shop;
    const card = await service.issueCard({ balanceCents: 7500 });
    const cartId = await storefront.createCart();
    await storefront.apply(cartId, card);
    await storefront.initiate(cartId);
    const { order } = (await storefront.complete(cartId)).body;
    const cancel = () => storefront.send("POST", `/admin/orders/${order.id}/cancel`, {});
    await storefront.ok("POST", "/admin/order-edits", { order_id: order.id });
    expectOpen(await cancel());
    expect(await shop.balanceCents(card)).toBe(2500);
    expect(paymentsOf(await storefront.order(order.id)).amounts).toEqual([50, 24.98]);
    await storefront.ok("DELETE", `/admin/order-edits/${order.id}`);
    expect((await cancel()).status).toBe(200);
    expect(await shop.balanceCents(card)).toBe(7500);
  });

  test("only what the order owes can be refunded, so that the order records every refund", async () => {
    const { storefront } = shop;
    const { card, orderId, giftId, otherId } = await buy();
    const { poster } = await itemsOf(orderId);
    await edit(orderId, (path) => storefront.ok("POST", `${path}/items/item/${poster.id}`, { quantity: 0 }));
    expect(await outstanding(orderId)).toBe(-20);
    await storefront.ok("POST", "/admin/order-edits", { order_id: orderId });
    expectOpen(await refund(otherId, 20.01));
    expectOpen(await refund(giftId, 50));
    expectOpen(await storefront.send("POST", `/admin/payments/${otherId}/refund`, {}));
    expect(await shop.balanceCents(card)).toBe(2500);
    expect(figuresOf(await storefront.order(orderId))).toMatchObject({ refunded: 0 });
    expect((await refund(otherId, 20)).status).toBe(200);
    await storefront.ok("DELETE", `/admin/order-edits/${orderId}`);
    expect((await refund(giftId, 50, "a gesture")).status).toBe(200);
    expect(await shop.balanceCents(card)).toBe(7500);
    expect(figuresOf(await storefront.order(orderId))).toMatchObject({ refunded: 70 });
  });
});

/** Fulfils the order: only fulfilled items can be returned. */
async function fulfill(orderId: string) {
  const { storefront } = shop;
  const { poster, ticket } = await itemsOf(orderId);
  const { stock_locations } = await storefront.ok("GET", "/admin/stock-locations");
  for (const { id } of [poster, ticket]) {
    await storefront.ok("POST", `/admin/orders/${orderId}/fulfillments`, {
      items: [{ id, quantity: 1 }],
      location_id: stock_locations[0].id,
    });
  }
  return { poster, ticket, locationId: stock_locations[0].id as string };
}

test("a guest's return is refunded to the bank first and then to the card, whose payment is refunded in full", {
  tags: "long",
}, async () => {
  const { storefront } = shop;
  const { card, orderId, giftId, otherId } = await buy();
  const { poster, ticket, locationId } = await fulfill(orderId);
  const items = [poster, ticket].map(({ id }) => ({ id, quantity: 1 }));
  const { return: returned } = await storefront.ok("POST", "/admin/returns", {
    order_id: orderId,
    location_id: locationId,
  });
  const path = `/admin/returns/${returned.id}`;
  await storefront.ok("POST", `${path}/request-items`, { items });
  await storefront.ok("POST", `${path}/request`, {});
  await storefront.ok("POST", `${path}/receive`, {});
  await storefront.ok("POST", `${path}/receive-items`, { items });
  await storefront.ok("POST", `${path}/receive/confirm`, {});
  expect(await outstanding(orderId)).toBe(-94.98);
  expect((await refund(otherId, 44.98)).status).toBe(200);
  expect((await refund(giftId, 50)).status).toBe(200);
  expect(await outstanding(orderId)).toBe(0);
  expect(await shop.balanceCents(card)).toBe(7500);
});

test("an exchange for a more expensive item leaves the difference outstanding and does not touch the card", {
  tags: "long",
}, async () => {
  const { storefront } = shop;
  const { card, orderId } = await buy();
  const { poster, ticket } = await fulfill(orderId);
  const { exchange } = await storefront.ok("POST", "/admin/exchanges", { order_id: orderId });
  const path = `/admin/exchanges/${exchange.id}`;
  await storefront.ok("POST", `${path}/inbound/items`, { items: [{ id: poster.id, quantity: 1 }] });
  await storefront.ok("POST", `${path}/outbound/items`, {
    items: [{ variant_id: ticket.variant_id, quantity: 1 }],
  });
  await storefront.ok("POST", `${path}/request`, {});
  expect(await outstanding(orderId)).toBeCloseTo(54.98);
  expect(await shop.balanceCents(card)).toBe(2500);
});

test("publishes each step on Medusa's event bus, with ids and without secrets", async () => {
  const { storefront } = shop;
  const { card, orderId } = await buy();
  await storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
  const dropped = await storefront.createCart();
  const applied = await storefront.apply(dropped, card);
  const cardId = applied.body.cards[0].id;
  await storefront.send("DELETE", `/store/giftcard-pay/carts/${dropped}/cards/${cardId}`);
  const events = () =>
    shop.medusa
      .logs()
      .split("\n")
      .filter((line) => line.startsWith("EVENT "))
      .map((line) => JSON.parse(line.slice("EVENT ".length)));
  const said = (name: string, data: object) =>
    expect.poll(events).toContainEqual({ name, data: expect.objectContaining(data) });
  await said("giftcard.applied", { cart_id: dropped, card_id: cardId });
  await said("giftcard.removed", { cart_id: dropped, card_id: cardId });
  const reversed = {
    order_id: orderId,
    amount_cents: 5000,
    last_four: card.cardNumber.slice(-4),
    reason: expect.any(String),
  };
  await said("giftcard.reversed", reversed);
  const { reference } = events().find(({ data }) => data.order_id === orderId).data;
  await said("giftcard.devalued", { reference, amount_cents: 5000 });
  expect(shop.medusa.logs()).toMatch(new RegExp(`giftcard reference=${reference} state=committed .*order=${orderId}`));
  const all = shop.medusa.logs();
  for (const secret of [card.cardNumber, shop.company.apiKey]) expect(all).not.toContain(secret);
  expect(JSON.stringify(events())).not.toContain("eyJ");
});
