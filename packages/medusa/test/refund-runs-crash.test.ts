import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { startShop, type TestShop } from "./support/shop.js";
import type { Card } from "./support/storefront.js";

/** Short, so that what a dead process held is free again soon. */
const LEASE_MS = 4000;
const ORDERS = 12;

let shop: TestShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await startShop(
    { TEST_RECOVER_OFTEN: "yes" },
    { charges: "by-line", timeoutMs: 3000, leaseMs: LEASE_MS },
  );
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

async function buy(): Promise<{ card: Card; orderId: string }> {
  const { storefront, service } = shop;
  const card = await service.issueCard({ balanceCents: 5000 });
  const cartId = await storefront.createCart("show", 2);
  await storefront.apply(cartId, card);
  const { order } = (await storefront.complete(cartId)).body;
  for (const { id } of paymentsOf(await storefront.order(order.id)).gifts)
    await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  return { card, orderId: order.id };
}

test("killed again and again, and with the service away half of the time, each order is refunded once", async () => {
  await shop.storefront.createProduct("show", 25);
  const bought: Awaited<ReturnType<typeof buy>>[] = [];
  for (let made = 0; made < ORDERS; made += 1) bought.push(await buy());
  const admin = (method: string, path: string, body?: unknown) =>
    shop.storefront.ok(method, `/admin/giftcard-pay/${path}`, body);
  const { products } = await shop.storefront.ok("GET", "/admin/products?handle=show&fields=id");
  const { plan } = await admin("POST", "refund-plan", { productId: products[0].id });
  expect(plan).toMatchObject({ amountCents: ORDERS * 5000, refused: [] });
  const { sold, title, amountCents } = plan;
  const { run } = await admin("POST", "refund-runs", { sold, title, amountCents });
  const leftOver = async () => {
    const { rows } = await database.query(
      "select count(*)::int as n from giftcard_refund_order where run_id = $1 and state = 'open'",
      [run.id],
    );
    return rows[0].n as number;
  };
  for (let kills = 0; kills < 4 && (await leftOver()) > 0; kills += 1) {
    const before = await leftOver();
    await shop.proxy.listen(kills % 2 === 1);
    await expect.poll(leftOver, { timeout: 30_000, interval: 50 }).toBeLessThan(before);
    await shop.crash();
    await shop.restart();
  }
  await shop.proxy.listen(true);
  await expect.poll(leftOver, { timeout: 60_000, interval: 300 }).toBe(0);
  const balances = () => Promise.all(bought.map(({ card }) => shop.balanceCents(card)));
  await expect.poll(balances, { timeout: 90_000, interval: 500 }).toEqual(Array(ORDERS).fill(5000));
  const report = (await admin("GET", `refund-runs/${run.id}`)).run;
  expect(report).toMatchObject({ done: ORDERS, doneCents: ORDERS * 5000, waiting: [] });
  for (const { orderId } of bought) {
    expect(figuresOf(await shop.storefront.order(orderId))).toMatchObject({ refunded: 50, outstanding: 0 });
  }
}, 300_000);
