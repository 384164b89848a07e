import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";
import type { Card } from "./support/storefront.js";

const GIFTCARD = "pp_giftcard_giftcard";

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("whole");
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(() => database?.end());

/** An order for 74.98, paid by the bank, or 50.00 of it by a card. */
async function buy(card?: Card) {
  const { storefront } = shop;
  const cartId = await storefront.createCart();
  if (card) await storefront.apply(cartId, card);
  await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  const orderId: string = body.order.id;
  const [{ id }] = (await storefront.order(orderId)).payment_collections;
  return { orderId, collectionId: id as string };
}

async function capture(orderId: string) {
  const { gifts, others } = paymentsOf(await shop.storefront.order(orderId));
  for (const { id } of [...gifts, ...others]) await shop.storefront.ok("POST", `/admin/payments/${id}/capture`, {});
}

/** The collection's payment sessions with their payments, from Medusa's database. */
async function sessionsOf(collectionId: string) {
  const { rows } = await database.query(
    `select s.id, s.status, s.data, s.deleted_at, p.id as payment_id, p.canceled_at, p.captured_at, p.data as payment_data
     from payment_session s left join payment p on p.payment_session_id = s.id
     where s.payment_collection_id = $1 order by s.id`,
    [collectionId],
  );
  return rows;
}

const startSession = (area: "store" | "admin", collectionId: string, provider_id: string) =>
  shop.storefront.send("POST", `/${area}/payment-collections/${collectionId}/payment-sessions`, {
    provider_id,
  });
const markAsPaid = (collectionId: string, order_id: string, provider_id?: string) =>
  shop.storefront.send("POST", `/admin/payment-collections/${collectionId}/mark-as-paid`, {
    order_id,
    ...(provider_id && { provider_id }),
  });

describe("a second payment of a paid order", () => {
  const refuseAll = async ({ orderId, collectionId }: Awaited<ReturnType<typeof buy>>) => {
    const before = await sessionsOf(collectionId);
    for (const area of ["store", "admin"] as const)
      for (const provider of ["pp_bank_bank", "pp_system_default"])
        expect(await startSession(area, collectionId, provider), `${area} ${provider}`).toMatchObject({
          status: 400,
          body: { code: "cart_completed" },
        });
    expect((await markAsPaid(collectionId, orderId)).status).toBe(400);
    expect(await sessionsOf(collectionId)).toEqual(before);
  };

  test("is rejected on every Medusa route, and the order's money stays", async () => {
    const card = await shop.service.issueCard({ balanceCents: 7500 });
    const order = await buy(card);
    await refuseAll(order);
    await capture(order.orderId);
    await refuseAll(order);
    expect(await shop.balanceCents(card)).toBe(2500);
    expect(figuresOf(await shop.storefront.order(order.orderId))).toMatchObject({ paid: 74.98, refunded: 0 });
  });

  test("is also rejected if the order's cart never had a card", async () => {
    const order = await buy();
    await refuseAll(order);
    await capture(order.orderId);
    await refuseAll(order);
  });
});

test("a gift card can't pay the difference after an edit: each route says how to pay, and a bank pays", async () => {
  const { storefront } = shop;
  const { orderId } = await buy(await shop.service.issueCard({ balanceCents: 7500 }));
  await capture(orderId);
  const { order } = await storefront.ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
  await storefront.ok("POST", "/admin/order-edits", { order_id: orderId });
  await storefront.ok("POST", `/admin/order-edits/${orderId}/items/item/${order.items[0].id}`, {
    quantity: 2,
  });
  await storefront.ok("POST", `/admin/order-edits/${orderId}/confirm`, {});
  const { payment_collections } = await storefront.order(orderId);
  const { id: open } = payment_collections.find((one: { payments: object[] }) => one.payments.length === 0);

  const refused = {
    status: 400,
    body: {
      message: "A placed order takes no gift card. Pay the difference by another method, or mark it as paid.",
    },
  };
  expect(await startSession("store", open, GIFTCARD)).toMatchObject(refused);
  expect(await startSession("admin", open, GIFTCARD)).toMatchObject(refused);
  expect(await markAsPaid(open, orderId, GIFTCARD)).toMatchObject(refused);
  expect(await sessionsOf(open)).toEqual([]);

  const bank = await startSession("store", open, "pp_bank_bank");
  expect(bank).toMatchObject({ status: 200 });
  expect(bank.body.payment_collection.payment_sessions).toMatchObject([{ amount: 74.98 }]);
  expect((await markAsPaid(open, orderId)).status).toBe(200);
  expect(figuresOf(await storefront.order(orderId))).toMatchObject({ paid: 149.96, outstanding: 0 });
});

test("rejects a gift card payment session and advises to apply the card to the cart", async () => {
  const { storefront } = shop;
  const cartId = await storefront.createCart();
  const { body } = await storefront.initiate(cartId);
  const { id } = body.payment_collection;
  for (const area of ["store", "admin"] as const)
    expect(await startSession(area, id, GIFTCARD)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("Apply a gift card to the cart") },
    });
});
