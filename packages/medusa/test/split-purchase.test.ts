import { beforeAll, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";

let shop: SharedShop;
beforeAll(async () => {
  shop = await sharedShop("whole");
});

/** Buys for 74.98 with a card of 75.00. */
async function buy(data?: Record<string, unknown>) {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  const applied = await storefront.apply(cartId, card);
  expect(applied).toMatchObject({
    status: 200,
    body: { totalCents: 7498, coveredCents: 5000, remainderCents: 2498 },
  });
  const initiated = await storefront.initiate(cartId, "pp_bank_bank", data);
  expect(initiated.status).toBe(200);
  expect(initiated.body.payment_collection.payment_sessions).toMatchObject([
    { provider_id: "pp_bank_bank", amount: 24.98 },
  ]);
  expect(await shop.balanceCents(card)).toBe(7500);
  const completed = await storefront.complete(cartId);
  expect(completed).toMatchObject({ status: 200, body: { type: "order" } });
  expect(await shop.balanceCents(card)).toBe(2500);
  return { card, cartId, orderId: completed.body.order.id as string };
}

test("pays an order of 74.98 with 50.00 from a card and 24.98 by another method", async () => {
  const { storefront } = shop;
  const { orderId } = await buy();
  const order = await storefront.order(orderId);
  expect(figuresOf(order)).toEqual({
    status: "pending",
    total: 74.98,
    paid: 0,
    outstanding: 74.98,
    refunded: 0,
    payment_status: "authorized",
  });
  expect(paymentsOf(order).amounts).toEqual([50, 24.98]);
  const [gift] = paymentsOf(order).gifts;
  expect(gift.data).toMatchObject({
    state: "devalued",
    amount_cents: 5000,
    last_four: expect.stringMatching(/^\d{4}$/),
  });
  // A sealed value is a JWE, which has five parts.
  expect(gift.data.charges[0].sealed_token.split(".")).toHaveLength(5);
});

test("capture makes the order paid; the card's payment is refunded in full or not at all", async () => {
  const { storefront } = shop;
  const { card, orderId } = await buy();
  const { gifts, others } = paymentsOf(await storefront.order(orderId));
  const some = await storefront.send("POST", `/admin/payments/${gifts[0].id}/capture`, { amount: 10 });
  expect(some).toMatchObject({ status: 400, body: { message: expect.stringContaining("as a whole") } });
  await storefront.ok("POST", `/admin/payments/${gifts[0].id}/capture`, {});
  expect(figuresOf(await storefront.order(orderId))).toMatchObject({
    paid: 50,
    outstanding: 24.98,
    payment_status: "partially_captured",
  });
  await storefront.ok("POST", `/admin/payments/${others[0].id}/capture`, {});
  const paid = await storefront.order(orderId);
  expect(figuresOf(paid)).toMatchObject({
    total: 74.98,
    paid: 74.98,
    outstanding: 0,
    payment_status: "captured",
  });
  expect(paymentsOf(paid).gifts[0].data.state).toBe("captured");

  const partial = await storefront.send("POST", `/admin/payments/${gifts[0].id}/refund`, { amount: 10 });
  expect(partial).toMatchObject({ status: 400, body: { message: expect.stringContaining("50.00 euro") } });
  expect(await shop.balanceCents(card)).toBe(2500);
  expect(figuresOf(await storefront.order(orderId))).toMatchObject({
    paid: 74.98,
    refunded: 0,
    payment_status: "captured",
  });

  await storefront.ok("POST", `/admin/payments/${gifts[0].id}/refund`, { amount: 50 });
  expect(await shop.balanceCents(card)).toBe(7500);
  const refunded = await storefront.order(orderId);
  expect(figuresOf(refunded)).toMatchObject({
    paid: 74.98,
    refunded: 50,
    payment_status: "partially_refunded",
  });
  expect(paymentsOf(refunded).gifts[0].data.state).toBe("reversed");

  const again = await storefront.send("POST", `/admin/payments/${gifts[0].id}/refund`, { amount: 50 });
  expect(again.status).toBe(400);
  expect(await shop.balanceCents(card)).toBe(7500);
});

test("a cancel before capture reverses the card", { tags: "long" }, async () => {
  const { storefront } = shop;
  const { card, orderId } = await buy();
  await storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
  expect(await shop.balanceCents(card)).toBe(7500);
  const order = await storefront.order(orderId);
  expect(figuresOf(order)).toMatchObject({ status: "canceled", paid: 0, payment_status: "canceled" });
  expect(paymentsOf(order).gifts[0]).toMatchObject({
    canceled_at: expect.any(String),
    data: { state: "reversed" },
  });
});

test("a cancel after capture refunds both payments", async () => {
  const { storefront } = shop;
  const { card, orderId } = await buy();
  for (const { id } of (await storefront.order(orderId)).payment_collections[0].payments) {
    await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  }
  await storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
  expect(await shop.balanceCents(card)).toBe(7500);
  expect(figuresOf(await storefront.order(orderId))).toMatchObject({ status: "canceled", refunded: 74.98 });
});

test("a remainder captured at once shows as paid; the card follows at its capture", { tags: "long" }, async () => {
  const { storefront } = shop;
  const { orderId } = await buy({ behaviour: "captured" });
  const order = await storefront.order(orderId);
  expect(figuresOf(order)).toMatchObject({ total: 74.98, paid: 24.98, outstanding: 50 });
  expect(order.transactions.map((t: { amount: number }) => t.amount)).toEqual([24.98]);
  await storefront.ok("POST", `/admin/payments/${paymentsOf(order).gifts[0].id}/capture`, {});
  expect(figuresOf(await storefront.order(orderId))).toMatchObject({
    paid: 74.98,
    outstanding: 0,
    payment_status: "captured",
  });
});

test("completing again returns the same order and charges nothing more", { tags: "long" }, async () => {
  const { storefront } = shop;
  const { card, cartId, orderId } = await buy();
  expect((await storefront.complete(cartId)).body).toMatchObject({ type: "order", order: { id: orderId } });
  expect(await shop.balanceCents(card)).toBe(2500);
  expect(await storefront.send("GET", `/store/giftcard-pay/carts/${cartId}`)).toMatchObject({
    status: 409,
    body: { code: "cart_completed" },
  });
});

test("many concurrent completions place one order and charge the card once", { tags: "long" }, async () => {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  const answers = await Promise.all(Array.from({ length: 5 }, () => storefront.complete(cartId)));
  const orders = new Set(answers.filter((a) => a.body.type === "order").map((a) => a.body.order.id));
  expect(orders.size).toBe(1);
  expect(await shop.balanceCents(card)).toBe(2500);
  expect(paymentsOf(await storefront.order([...orders][0])).amounts).toEqual([50, 24.98]);
});

test("pays a total with fractions of a cent in whole cents, by cards and by the bank", async () => {
  const { storefront, service } = shop;
  const [first, second] = [
    await service.issueCard({ balanceCents: 7500 }),
    await service.issueCard({ balanceCents: 7500 }),
  ];
  await storefront.createProduct("fraction", 53.5262);
  const split = await storefront.createCart("fraction");
  expect((await storefront.apply(split, first)).body).toMatchObject({
    totalCents: 5353,
    coveredCents: 5000,
    remainderCents: 353,
  });
  expect((await storefront.initiate(split)).body.payment_collection.payment_sessions).toMatchObject([{ amount: 3.53 }]);
  const completed = await storefront.complete(split);
  expect(paymentsOf(await storefront.order(completed.body.order.id)).amounts).toEqual([50, 3.53]);

  const covered = await storefront.createCart("fraction");
  await storefront.apply(covered, second);
  await storefront.apply(covered, await service.issueCard({ balanceCents: 7500 }));
  const { order } = (await storefront.complete(covered)).body;
  const { amounts, gifts } = paymentsOf(await storefront.order(order.id));
  expect(amounts).toEqual([50, 3.53]);
  expect(gifts.map((gift: { data: { amount_cents: number } }) => gift.data.amount_cents).sort()).toEqual([353, 5000]);
  for (const { id } of gifts) await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  expect(figuresOf(await storefront.order(order.id))).toMatchObject({
    total: 53.5262,
    paid: 53.53,
    outstanding: 0,
    payment_status: "captured",
  });
  await storefront.ok("POST", `/admin/orders/${order.id}/cancel`, {});
  expect(await shop.balanceCents(second)).toBe(7500);
});

test("a page receives no card number, PIN or token", async () => {
  const { storefront } = shop;
  const { card, cartId, orderId } = await buy();
  const seen = JSON.stringify([
    await storefront.send("GET", `/store/carts/${cartId}?fields=*payment_collection.payment_sessions`),
    await storefront.send("GET", `/store/orders/${orderId}?fields=*payment_collections.payments`),
  ]);
  expect(seen).toContain(orderId);
  expect(seen).not.toContain(card.cardNumber);
  expect(seen).not.toContain(`"${card.pin}"`);
  expect(shop.medusa.logs()).not.toContain(card.cardNumber);
});

test("the gift card is neither listed nor counted as a payment method", async () => {
  const { storefront } = shop;
  const { regions } = await storefront.ok("GET", "/store/regions");
  const { payment_providers, count } = await storefront.ok(
    "GET",
    `/store/payment-providers?region_id=${regions[0].id}`,
  );
  const ids = payment_providers.map((provider: { id: string }) => provider.id);
  expect(ids).toContain("pp_bank_bank");
  expect(ids).not.toContain("pp_giftcard_giftcard");
  expect(count).toBe(ids.length);
});
