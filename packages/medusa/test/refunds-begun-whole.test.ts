import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("whole");
  await shop.storefront.createProduct("odd", 20.0025);
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(() => database?.end());

// Charged as a whole, Medusa's total of 40.005 becomes a payment of 40.01.
test("recovery completes a full refund that Medusa crashed on", async () => {
  const card = await shop.service.issueCard({ balanceCents: 5000 });
  const cartId = await shop.storefront.createCart("odd", 2);
  await shop.storefront.apply(cartId, card);
  const { order } = (await shop.storefront.complete(cartId)).body;
  const [{ id }] = paymentsOf(await shop.storefront.order(order.id)).gifts;
  await shop.storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  expect(await shop.balanceCents(card)).toBe(999);
  await database.query(
    `insert into refund (id, amount, raw_amount, payment_id, created_at, updated_at)
     values ($1, 40.01, '{"value": "40.01", "precision": 20}', $2, now() - interval '10 minutes', now())`,
    [`ref_${cartId}`, id],
  );
  const { failed } = await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  expect(failed.filter(({ orderId }: { orderId: string }) => orderId === order.id)).toEqual([]);
  expect(await shop.balanceCents(card)).toBe(5000);
  expect(figuresOf(await shop.storefront.order(order.id))).toMatchObject({ refunded: 40.01 });
});

test("recovery records a full refund that the provider made and the order lacks", async () => {
  const card = await shop.service.issueCard({ balanceCents: 5000 });
  const cartId = await shop.storefront.createCart("odd", 2);
  await shop.storefront.apply(cartId, card);
  const { order } = (await shop.storefront.complete(cartId)).body;
  const [{ id }] = paymentsOf(await shop.storefront.order(order.id)).gifts;
  await shop.storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  await database.query(`create function broken() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
    create trigger broken before insert on order_transaction for each row execute function broken()`);
  const typed = await shop.storefront.send("POST", `/admin/payments/${id}/refund`, { amount: 40.01 });
  await database.query("drop trigger broken on order_transaction; drop function broken()");
  expect(typed.status).toBe(500);
  expect(await shop.balanceCents(card)).toBe(5000);
  await shop.passTime(200_000);
  const { failed } = await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
  expect(failed.filter(({ orderId }: { orderId: string }) => orderId === order.id)).toEqual([]);
  expect(figuresOf(await shop.storefront.order(order.id))).toMatchObject({ refunded: 40.01 });
});
