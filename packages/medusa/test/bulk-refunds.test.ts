import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";
import type { Card } from "./support/storefront.js";

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("by-line");
  await shop.storefront.createProduct("poster", 10);
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterEach(async () => {
  shop.proxy.clear();
  await shop.proxy.release();
});
afterAll(async () => {
  await database?.end();
});

const admin = (method: string, path: string, body?: unknown) =>
  shop.storefront.send(method, `/admin/giftcard-pay/${path}`, body);

interface Purchase {
  readonly orderId: string;
  readonly card: Card | null;
}

/** An order for some of a show, with a poster beside it where that is asked for. */
async function buy(
  show: string,
  { tickets = 2, balanceCents = 4375, poster = false, captured = true } = {},
): Promise<Purchase> {
  const { storefront, service } = shop;
  const cartId = await storefront.createCart(show, tickets);
  if (poster) await storefront.addItem(cartId, "poster");
  const card = balanceCents > 0 ? await service.issueCard({ balanceCents }) : null;
  if (card) await storefront.apply(cartId, card);
  const isCovered =
    card !== null && (await storefront.ok("GET", `/store/giftcard-pay/carts/${cartId}`)).remainderCents === 0;
  if (!isCovered) await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  const orderId = body.order.id as string;
  if (captured) await capture(orderId);
  return { orderId, card };
}

async function capture(orderId: string) {
  const { gifts, others } = paymentsOf(await shop.storefront.order(orderId));
  for (const { id } of [...gifts, ...others]) await shop.storefront.ok("POST", `/admin/payments/${id}/capture`, {});
}

async function newShow(name: string): Promise<string> {
  await shop.storefront.createProduct(name, 25);
  const { products } = await shop.storefront.ok("GET", `/admin/products?handle=${name}&fields=id`);
  return products[0].id;
}

const balanceOf = async ({ card }: Purchase) => (card ? shop.balanceCents(card) : 0);
const figures = async ({ orderId }: Purchase) => figuresOf(await shop.storefront.order(orderId));

async function planOf(sold: object) {
  const { status, body } = await admin("POST", "refund-plan", sold);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.plan;
}

// biome-ignore lint/suspicious/noExplicitAny: a plan as the admin has it
async function begin({ sold, title, amountCents }: any) {
  const { status, body } = await admin("POST", "bulk-refunds", { sold, title, amountCents });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.bulkRefund.id as string;
}

const reportOf = async (id: string) => (await admin("GET", `bulk-refunds/${id}`)).body.bulkRefund;
const recover = () => shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
const untilOver = (id: string) =>
  expect.poll(async () => recover().then(async () => (await reportOf(id)).open), { interval: 300 }).toBe(0);

describe("a bulk refund of a canceled product", () => {
  test("refunds order by order, once: each card its part, the remainder by the bank", async () => {
    const productId = await newShow("gala");
    const split = await buy("gala");
    const mixed = await buy("gala", { tickets: 1, balanceCents: 5000, poster: true });
    const byBank = await buy("gala", { tickets: 1, balanceCents: 0 });
    const open = await buy("gala", { captured: false });
    const returned = await buy("gala");
    await shop.storefront.returnItem(returned.orderId, 1, 2);
    const { refund } = (await admin("GET", `orders/${returned.orderId}/refund`)).body;
    expect((await admin("POST", `orders/${returned.orderId}/refund`, refund.splits[0])).status).toBe(200);
    const canceled = await buy("gala");
    await shop.storefront.ok("POST", `/admin/orders/${canceled.orderId}/cancel`, {});
    await buy("poster", { tickets: 1, balanceCents: 1000 });

    const plan = await planOf({ productId });
    expect(plan).toMatchObject({ title: "gala", amountCents: 5000 + 2500 + 2500 + 2500 });
    expect(plan.orders.map(({ orderId, amountCents }: never) => [orderId, amountCents])).toEqual([
      [split.orderId, 5000],
      [mixed.orderId, 2500],
      [byBank.orderId, 2500],
      [returned.orderId, 2500],
    ]);
    expect(plan.sums).toEqual([
      { providerId: "pp_giftcard_giftcard", isCard: true, cents: 4375 + 2500 + 2500 },
      { providerId: "pp_bank_bank", isCard: false, cents: 625 + 2500 },
    ]);
    expect(plan.refused).toMatchObject([{ orderId: open.orderId, amountCents: 5000, why: [{ code: "uncaptured" }] }]);

    const id = await begin(plan);
    await untilOver(id);
    expect(await reportOf(id)).toMatchObject({
      done: 4,
      doneCents: 12_500,
      amountCents: 12_500,
      waiting: [],
      refused: plan.refused,
      refusedCount: 1,
    });
    expect(await balanceOf(split)).toBe(4375);
    expect(await balanceOf(mixed)).toBe(5000 - 1000);
    expect(await balanceOf(returned)).toBe(4375);
    expect(await figures(split)).toMatchObject({ refunded: 50, outstanding: 0 });
    expect(await figures(mixed)).toMatchObject({ refunded: 25, outstanding: 0 });
    expect(await figures(byBank)).toMatchObject({ refunded: 25, outstanding: 0 });
    expect(await figures(returned)).toMatchObject({ refunded: 50, outstanding: 0 });

    const again = await planOf({ productId });
    expect(again).toMatchObject({ orders: [], amountCents: 0 });
    // The confirmed plan is now stale.
    const body = { sold: plan.sold, title: plan.title, amountCents: plan.amountCents };
    expect(await admin("POST", "bulk-refunds", body)).toMatchObject({
      status: 400,
      body: { code: "amount_changed" },
    });
    await capture(open.orderId);
    expect((await planOf({ productId })).orders).toMatchObject([{ orderId: open.orderId, amountCents: 5000 }]);
  });

  test("selects by variant, or whole orders by their ids with everything in them", { tags: "long" }, async () => {
    const productId = await newShow("premiere");
    const { products } = await shop.storefront.ok("GET", `/admin/products?id=${productId}&fields=variants.id`);
    const bought = await buy("premiere", { tickets: 1, balanceCents: 5000, poster: true });
    const variant = await planOf({ variantId: products[0].variants[0].id });
    expect(variant).toMatchObject({ title: "premiere, One", amountCents: 2500 });
    const orders = await planOf({ orderIds: [bought.orderId] });
    expect(orders).toMatchObject({ title: "1 order", amountCents: 3500 });
    await untilOver(await begin(orders));
    expect(await balanceOf(bought)).toBe(5000);
    expect(await figures(bought)).toMatchObject({ refunded: 35, outstanding: 0 });
    expect(await planOf({ variantId: products[0].variants[0].id })).toMatchObject({ orders: [] });
  });

  test("waits for a person if an order changes between plan and refund", { tags: "long" }, async () => {
    const productId = await newShow("matinee");
    const bought = await buy("matinee");
    const { rows } = await database.query("select count(*)::int as n from giftcard_bulk_refund");
    const plan = await planOf({ productId });
    // Simulates an order edited between the bulk refund's plan and its turn.
    await shop.storefront.ok("POST", "/admin/order-edits", { order_id: bought.orderId });
    const begun = await admin("POST", "bulk-refunds", { ...plan, orders: undefined });
    expect(begun.status).toBe(400);
    expect((await database.query("select count(*)::int as n from giftcard_bulk_refund")).rows).toEqual(rows);
    await shop.storefront.ok("DELETE", `/admin/order-edits/${bought.orderId}`);
    expect(await balanceOf(bought)).toBe(0);
  });

  test("refunds what an order already owes too, and skips one that an edit made more expensive", {
    tags: "long",
  }, async () => {
    const productId = await newShow("revue");
    const owing = await buy("revue");
    await shop.storefront.returnItem(owing.orderId, 1, 2);
    const edited = await buy("revue");
    const { order } = await shop.storefront.ok("GET", `/admin/orders/${edited.orderId}?fields=id,items.id`);
    await shop.storefront.ok("POST", "/admin/order-edits", { order_id: edited.orderId });
    const path = `/admin/order-edits/${edited.orderId}`;
    await shop.storefront.ok("POST", `${path}/items/item/${order.items[0].id}`, { quantity: 3 });
    await shop.storefront.ok("POST", `${path}/confirm`, {});
    const plan = await planOf({ productId });
    expect(plan).toMatchObject({
      orders: [{ orderId: owing.orderId, amountCents: 5000 }],
      refused: [
        { orderId: edited.orderId, why: [{ code: "due", values: { amountCents: 2500 } }, { code: "useRest" }] },
      ],
    });
    await untilOver(await begin(plan));
    expect(await figures(owing)).toMatchObject({ refunded: 50, outstanding: 0 });
  });

  test("refunds a kept ticket in full if another ticket was returned and the card was charged as a whole", {
    tags: "long",
  }, async () => {
    const productId = await newShow("opera");
    const byBank = await buy("opera", { tickets: 3, balanceCents: 0 });
    await shop.storefront.returnItem(byBank.orderId, 1, 3);
    const { refund } = (await admin("GET", `orders/${byBank.orderId}/refund`)).body;
    expect((await admin("POST", `orders/${byBank.orderId}/refund`, refund.splits[0])).status).toBe(200);
    const plan = await planOf({ productId });
    expect(plan.orders).toMatchObject([{ orderId: byBank.orderId, amountCents: 5000 }]);
    await untilOver(await begin(plan));
    expect(await figures(byBank)).toMatchObject({ refunded: 75, outstanding: 0 });
  });

  test("refunds an edited bank-only order for what its buyer still has", { tags: "long" }, async () => {
    const productId = await newShow("cantata");
    const edited = await buy("cantata", { tickets: 3, balanceCents: 0, poster: true });
    const { order } = await shop.storefront.ok("GET", `/admin/orders/${edited.orderId}?fields=id,*items`);
    const poster = order.items.find((item: { product_handle: string }) => item.product_handle === "poster");
    await shop.storefront.ok("POST", "/admin/order-edits", { order_id: edited.orderId });
    const path = `/admin/order-edits/${edited.orderId}`;
    await shop.storefront.ok("POST", `${path}/items/item/${poster.id}`, { quantity: 0 });
    await shop.storefront.ok("POST", `${path}/confirm`, {});
    const { refund } = (await admin("GET", `orders/${edited.orderId}/refund`)).body;
    expect(refund).toMatchObject({ owedCents: 1000 });
    expect((await admin("POST", `orders/${edited.orderId}/refund`, refund.splits[0])).status).toBe(200);
    const plan = await planOf({ productId });
    expect(plan.orders).toMatchObject([{ orderId: edited.orderId, amountCents: 7500 }]);
    await untilOver(await begin(plan));
    expect(await figures(edited)).toMatchObject({ refunded: 85, outstanding: 0 });
  });

  test("skips an order with a requested return", { tags: "long" }, async () => {
    const productId = await newShow("ballet");
    const bought = await buy("ballet");
    await shop.storefront.requestReturn(bought.orderId, 1, 2);
    expect(await planOf({ productId })).toMatchObject({
      orders: [],
      refused: [{ orderId: bought.orderId, why: [{ code: "awaitsReturn" }] }],
    });
  });

  test("names each requested order that can't be refunded", { tags: "long" }, async () => {
    await newShow("recital");
    const open = await buy("recital", { captured: false });
    const canceled = await buy("recital");
    await shop.storefront.ok("POST", `/admin/orders/${canceled.orderId}/cancel`, {});
    const plan = await planOf({ orderIds: [open.orderId, canceled.orderId, "order_none"] });
    expect(plan).toMatchObject({ orders: [], amountCents: 0 });
    expect(plan.refused.map(({ orderId, why }: never) => [orderId, why])).toEqual([
      [canceled.orderId, [{ code: "missing" }]],
      ["order_none", [{ code: "missing" }]],
      [open.orderId, [{ code: "uncaptured", values: { amountCents: 5000 } }]],
    ]);
  });

  test("stops an order's refund if a person refunded it between two of its parts", { tags: "long" }, async () => {
    const productId = await newShow("oratorio");
    const bought = await buy("oratorio", { tickets: 1, balanceCents: 2000 });
    const bankId = paymentsOf(await shop.storefront.order(bought.orderId)).others[0].id as string;
    const plan = await planOf({ productId });
    // The card's part is refunded, then the bulk refund crashes before the bank's part.
    await database.query(`create function dies() returns trigger language plpgsql as $$ begin
      if new.payment_id = '${bankId}' then raise exception 'dies'; end if; return new; end $$;
      create trigger dies before insert on refund for each row execute function dies()`);
    const id = await begin(plan);
    await untilOver(id);
    await database.query("drop trigger dies on refund; drop function dies()");
    await shop.storefront.ok("POST", `/admin/payments/${bankId}/refund`, { amount: 5 });
    expect((await admin("POST", `bulk-refunds/${id}/orders/${bought.orderId}/retry`)).status).toBe(200);
    await untilOver(id);
    expect((await reportOf(id)).waiting).toMatchObject([{ why: [{ code: "orderChanged" }, {}] }]);
    expect(await balanceOf(bought)).toBe(2000);
    expect(await figures(bought)).toMatchObject({ refunded: 25 });
  });

  test("books the bank's part that was made but not recorded; a later edit's increase stays outstanding", {
    tags: "long",
  }, async () => {
    const productId = await newShow("requiem");
    const bought = await buy("requiem", { balanceCents: 0 });
    const plan = await planOf({ productId });
    await database.query(`create function dies() returns trigger language plpgsql as $$ begin raise exception 'dies'; end $$;
      create trigger dies before insert on order_transaction for each row execute function dies()`);
    const id = await begin(plan);
    await untilOver(id);
    await database.query("drop trigger dies on order_transaction; drop function dies()");
    const { order } = await shop.storefront.ok("GET", `/admin/orders/${bought.orderId}?fields=id,items.id`);
    await shop.storefront.ok("POST", "/admin/order-edits", { order_id: bought.orderId });
    const edit = `/admin/order-edits/${bought.orderId}`;
    await shop.storefront.ok("POST", `${edit}/items/item/${order.items[0].id}`, { quantity: 3 });
    await shop.storefront.ok("POST", `${edit}/confirm`, {});
    await shop.passTime(200_000);
    const jobOf = async () =>
      (await admin("GET", "jobs")).body.jobs.find((job: { orderId: string }) => job.orderId === bought.orderId);
    await expect.poll(() => recover().then(jobOf)).toMatchObject({ kind: "unknown_refund" });
    expect((await admin("POST", `jobs/unknown_refund/${(await jobOf()).id}/exempt`)).status).toBe(200);
    await expect.poll(async () => recover().then(async () => (await reportOf(id)).done)).toBe(1);
    expect(await figures(bought)).toMatchObject({ refunded: 50, outstanding: 25 });
  });

  test("refunds once if two people start it at the same moment", async () => {
    const productId = await newShow("serenade");
    const bought = [await buy("serenade"), await buy("serenade")];
    const { sold, title, amountCents } = await planOf({ productId });
    const ask = () => admin("POST", "bulk-refunds", { sold, title, amountCents });
    const answers = await Promise.all([ask(), ask()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    await untilOver(answers.find(({ status }) => status === 200)?.body.bulkRefund.id);
    for (const one of bought) {
      expect(await balanceOf(one)).toBe(4375);
      expect(await figures(one)).toMatchObject({ refunded: 50, outstanding: 0 });
    }
  });

  test("validates its input", async () => {
    for (const body of [{}, { productId: "" }, { orderIds: [] }, { productId: "a", variantId: "b" }])
      expect((await admin("POST", "refund-plan", body)).status).toBe(400);
    expect((await admin("POST", "refund-plan", { productId: "prod_none" })).status).toBe(404);
  });
});
