import { afterAll, beforeAll, expect, test } from "vitest";
import { startShop, type TestShop } from "./support/shop.js";

let shop: TestShop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop?.stop());

test("an order of 74.98 is paid by 50.00 from a card and 24.98 by another method", async () => {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 7500 });
  const cartId = await storefront.createCart();

  const applied = await storefront.apply(cartId, card);
  expect(applied).toMatchObject({ status: 200, body: { totalCents: 7498, coveredCents: 5000, remainingCents: 2498 } });
  expect(await shop.balanceCents(card)).toBe(7500);

  const initiated = await storefront.initiate(cartId);
  expect(initiated.status).toBe(200);
  expect(initiated.body.payment_collection.payment_sessions).toMatchObject([{ provider_id: "pp_bank_bank", amount: 24.98 }]);

  const completed = await storefront.complete(cartId);
  expect(completed).toMatchObject({ status: 200, body: { type: "order" } });
  expect(await shop.balanceCents(card)).toBe(2500);

  const order = await storefront.order(completed.body.order.id);
  console.log(JSON.stringify(order, null, 1).slice(0, 6000));
});
