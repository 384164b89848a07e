import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { editTo, exchange, fulfil, refundOf } from "./support/order-admin.js";
import { type Bought, bankCents, buy as buyGoods, type Code, type Goods } from "./support/ordinary-shop.js";
import { type SharedShop, sharedShop } from "./support/shop.js";

/* Refunds of orders whose payments aren't all captured, and of everything that is left of an order. Prices include 9 % VAT. */

let shop: SharedShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await sharedShop("by-line");
  await shop.storefront.createProduct("sonata", 24.95);
  await shop.storefront.createProduct("nocturne", 33.335);
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterEach(async () => {
  shop.proxy.clear();
  await shop.proxy.release();
  await database.query("drop function if exists fails() cascade");
});
afterAll(async () => {
  await database?.end();
});

const admin = (method: string, path: string, body?: unknown) =>
  shop.storefront.send(method, `/admin/giftcard-pay/${path}`, body);

interface Basket {
  readonly balancesCents?: readonly number[];
  readonly codes?: readonly Code[];
  /** The payments to capture. */
  readonly captured?: "none" | "cards" | "all";
}

async function buy(
  goods: Goods,
  { balancesCents = [5000], codes = [], captured = "none" }: Basket = {},
): Promise<Bought> {
  const bought = await buyGoods(shop, goods, { balancesCents, codes, captured: captured === "all" });
  const gifts = captured === "cards" ? paymentsOf(await shop.storefront.order(bought.orderId)).gifts : [];
  for (const { id } of gifts) await shop.storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  return bought;
}

/** A product of its own, so that a plan has only the orders of one test. @returns its id */
const newShow = (handle: string, price = 24.95) => shop.storefront.createProduct(handle, price);

async function planOf(sold: object) {
  const { status, body } = await admin("POST", "refund-plan", sold);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.plan;
}

// biome-ignore lint/suspicious/noExplicitAny: a plan as the admin has it
const begin = ({ sold, title, amountCents, captureCents }: any) =>
  admin("POST", "bulk-refunds", { sold, title, amountCents, captureCents });

const recover = () => shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});

async function untilOver(id: string) {
  const report = async () => (await admin("GET", `bulk-refunds/${id}`)).body.bulkRefund;
  await expect
    .poll(async () => recover().then(async () => (await report()).open), { interval: 300, timeout: 30_000 })
    .toBe(0);
  return report();
}

const balances = ({ cards }: Bought) => Promise.all(cards.map((card) => shop.balanceCents(card)));
const figures = async ({ orderId }: Bought) => figuresOf(await shop.storefront.order(orderId));

/** Makes an insert into a table fail if this holds, such as by a crash in between. */
const failOn = (table: string, when: string) =>
  database.query(`create function fails() returns trigger language plpgsql as $$ begin
    if ${when} then raise exception 'fails'; end if; return new; end $$;
    create trigger fails before insert on "${table}" for each row execute function fails()`);
const isOfBank = "(select provider_id from payment where id = new.payment_id) = 'pp_bank_bank'";

/** Reports a payment by a webhook of the bank. */
async function tell(action: "authorized" | "captured", sessionId: string, amount: number) {
  const { status } = await fetch(`${shop.medusa.url}/hooks/payment/bank_bank`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ action, session_id: sessionId, amount }),
  });
  expect(status).toBe(200);
}

/** Authorizes a payment of a draft order at the bank. */
async function authorize(orderId: string, amount: number): Promise<void> {
  const { storefront: s } = shop;
  const { order } = await s.ok("GET", `/admin/orders/${orderId}?fields=id,*payment_collections`);
  const collection =
    order.payment_collections.find(({ status }: { status: string }) => status === "not_paid") ??
    (await s.ok("POST", "/admin/payment-collections", { order_id: orderId, amount })).payment_collection;
  const path = `/store/payment-collections/${collection.id}/payment-sessions`;
  const { payment_collection } = await s.ok("POST", path, { provider_id: "pp_bank_bank" });
  await tell("authorized", payment_collection.payment_sessions[0].id, amount);
  const isPaid = async () => paymentsOf(await s.order(orderId)).others.length;
  await expect.poll(isPaid, { interval: 300, timeout: 20_000 }).toBe(1);
}

/** Expects that all money is back, and Medusa's books say so. */
async function expectRefunded(bought: Bought, totalCents: number, balancesCents: readonly number[]) {
  expect(await balances(bought)).toEqual(balancesCents);
  expect(await bankCents(shop.storefront, bought.orderId)).toBe(0);
  expect(await figures(bought)).toMatchObject({ paid: totalCents / 100, refunded: totalCents / 100, outstanding: 0 });
}

describe("a bulk refund", () => {
  test("leaves out what isn't captured, and captures it first if a person confirms that", {
    tags: "long",
  }, async () => {
    const productId = await newShow("prelude");
    const captured = await buy({ prelude: 3 }, { captured: "all", codes: ["TEN"] });
    const open = await buy({ prelude: 3 }, { balancesCents: [1234, 2000], codes: ["TEN"] });
    const half = await buy({ prelude: 3 }, { captured: "cards", codes: ["TEN"] });
    const covered = await buy({ prelude: 1 });

    const plan = await planOf({ productId });
    expect(plan).toMatchObject({ amountCents: 6737, captureCents: 0, uncaptured: { orders: 3 } });
    expect(plan.uncaptured.cents).toBe(6737 + 1737 + 2495);
    expect(plan.orders).toMatchObject([{ orderId: captured.orderId, captures: [] }]);
    expect(plan.refused).toMatchObject([
      { orderId: open.orderId, captureCents: 6737, why: [{ code: "uncaptured", values: { amountCents: 6737 } }] },
      { orderId: half.orderId, captureCents: 1737 },
      { orderId: covered.orderId, captureCents: 2495 },
    ]);

    const all = await planOf({ productId, capture: true });
    expect(all).toMatchObject({
      ...{ amountCents: 3 * 6737 + 2495, captureCents: 6737 + 1737 + 2495, refused: [] },
      uncaptured: { orders: 0, cents: 0 },
    });
    expect(all.orders.find(({ orderId }: Bought) => orderId === half.orderId).captures).toMatchObject([
      { providerId: "pp_bank_bank", lastFour: null, cents: 1737 },
    ]);
    // A request that confirms only the sum doesn't confirm the captures.
    expect(await begin({ ...all, captureCents: 0 })).toMatchObject({ status: 400, body: { code: "amount_changed" } });
    expect(await begin({ ...all, captureCents: 1 })).toMatchObject({ status: 400, body: { code: "amount_changed" } });
    const { body } = await begin(all);
    expect(await untilOver(body.bulkRefund.id)).toMatchObject({ done: 4, waiting: [] });
    await expectRefunded(captured, 6737, [5000]);
    await expectRefunded(open, 6737, [1234, 2000]);
    await expectRefunded(half, 6737, [5000]);
    await expectRefunded(covered, 2495, [5000]);
  });

  test("refunds nothing of an order that can't be captured, until a person tries again", { tags: "long" }, async () => {
    const productId = await newShow("toccata");
    const bought = await buy({ toccata: 3 });
    const plan = await planOf({ productId, capture: true });
    await failOn("capture", isOfBank);
    const { body } = await begin(plan);
    const report = await untilOver(body.bulkRefund.id);
    expect(report.waiting).toMatchObject([
      {
        orderId: bought.orderId,
        why: [
          { code: "notCaptured", values: { amountCents: 2485, method: "pp_bank_bank" } },
          { code: "checkMethod" },
          { code: "nothing" },
        ],
      },
    ]);
    expect(await balances(bought)).toEqual([0]);
    expect(await figures(bought)).toMatchObject({ paid: 50, refunded: 0 });
    await database.query("drop function fails() cascade");
    const path = `bulk-refunds/${body.bulkRefund.id}/orders/${bought.orderId}/retry`;
    expect((await admin("POST", path)).status).toBe(200);
    expect(await untilOver(body.bulkRefund.id)).toMatchObject({ done: 1, waiting: [] });
    await expectRefunded(bought, 7485, [5000]);
  });

  test("continues after a crash between capture and refund, and within a capture", { tags: "long" }, async () => {
    const productId = await newShow("gigue");
    const bought = await buy({ gigue: 3 });
    const half = await buy({ gigue: 3 });
    const bankId = paymentsOf(await shop.storefront.order(half.orderId)).others[0].id as string;
    const plan = await planOf({ productId, capture: true });
    // Every capture is made, then each process dies: before the refund, or before the order has the capture.
    await failOn("refund", "true");
    const { body } = await begin(plan);
    expect(await untilOver(body.bulkRefund.id)).toMatchObject({ done: 0, waiting: [{}, {}] });
    expect(await figures(bought)).toMatchObject({ paid: 74.85, refunded: 0 });
    await database.query("drop function fails() cascade");
    await database.query("update payment set captured_at = null where id = $1", [bankId]);
    await database.query(
      `delete from order_transaction where reference_id in (select id from capture where payment_id = $1)`,
      [bankId],
    );
    await database.query(
      `update order_summary set totals = totals || '{"paid_total": 50, "raw_paid_total": {"value": "50", "precision": 20},
         "transaction_total": 50, "raw_transaction_total": {"value": "50", "precision": 20},
         "pending_difference": 24.85, "raw_pending_difference": {"value": "24.85", "precision": 20}}' where order_id = $1`,
      [half.orderId],
    );
    for (const { orderId } of [bought, half])
      expect((await admin("POST", `bulk-refunds/${body.bulkRefund.id}/orders/${orderId}/retry`)).status).toBe(200);
    expect(await untilOver(body.bulkRefund.id)).toMatchObject({ done: 2, waiting: [] });
    await expectRefunded(bought, 7485, [5000]);
    await expectRefunded(half, 7485, [5000]);
  });

  test("waits for a person if something else isn't captured than was confirmed", { tags: "long" }, async () => {
    const productId = await newShow("minuet");
    const bought = await buy({ minuet: 3 }, { captured: "all" });
    const plan = await planOf({ productId });
    await failOn("refund", "true");
    const { body } = await begin(plan);
    await untilOver(body.bulkRefund.id);
    await database.query("drop function fails() cascade");
    // Simulates a payment that was added to the order.
    const [bank] = paymentsOf(await shop.storefront.order(bought.orderId)).others;
    await database.query("delete from capture where payment_id = $1", [bank.id]);
    await database.query("update payment set captured_at = null where id = $1", [bank.id]);
    await admin("POST", `bulk-refunds/${body.bulkRefund.id}/orders/${bought.orderId}/retry`);
    expect((await untilOver(body.bulkRefund.id)).waiting).toMatchObject([{ why: [{ code: "orderChanged" }, {}] }]);
    expect(await balances(bought)).toEqual([0]);
  });

  test("of an edited draft order that it captures first, owes nothing afterwards", { tags: "long" }, async () => {
    const { storefront: s } = shop;
    const canceled = await newShow("rondo", 10);
    await newShow("etude", 20);
    const of = async (handle: string) =>
      (await s.ok("GET", `/admin/products?handle=${handle}&fields=variants.id,sales_channels.id`)).products[0];
    const [rondo, etude] = [await of("rondo"), await of("etude")];
    const { regions } = await s.ok("GET", "/admin/regions");
    const { draft_order } = await s.ok("POST", "/admin/draft-orders", {
      ...{ region_id: regions[0].id, sales_channel_id: rondo.sales_channels[0].id, email: "d@example.com" },
      ...{ items: [{ variant_id: rondo.variants[0].id, quantity: 3 }], shipping_address: { country_code: "nl" } },
    });
    const { id } = draft_order;
    const items = [{ variant_id: etude.variants[0].id, quantity: 1 }];
    await s.ok("POST", `/admin/draft-orders/${id}/edit`, {});
    await s.ok("POST", `/admin/draft-orders/${id}/edit/items`, { items });
    await s.ok("POST", `/admin/draft-orders/${id}/edit/confirm`, {});
    await s.ok("POST", `/admin/draft-orders/${id}/convert-to-order`, {});
    await authorize(id, 50);

    const plan = await planOf({ productId: canceled, capture: true });
    expect(plan).toMatchObject({ amountCents: 3000, captureCents: 5000, refused: [] });
    const { body } = await begin(plan);
    expect(await untilOver(body.bulkRefund.id)).toMatchObject({ done: 1, waiting: [] });
    expect(await refundOf(s, id)).toMatchObject({ owedCents: 0, splits: [], rest: { amountCents: 2000 } });
  });

  test("validates capture", async () => {
    expect((await admin("POST", "refund-plan", { productId: "prod_none", capture: "yes" })).status).toBe(400);
  });
});

describe("an order's own refund", () => {
  test("never captures the rest of a payment that its method captured in part", { tags: "long" }, async () => {
    const bought = await buy({ sonata: 3 }, { captured: "cards" });
    const [other] = paymentsOf(await shop.storefront.order(bought.orderId)).others;
    await tell("captured", other.payment_session_id, 20);
    await expect.poll(async () => (await figures(bought)).paid, { interval: 300, timeout: 20_000 }).toBe(70);
    const { rest, captureCents } = await refundOf(shop.storefront, bought.orderId);
    expect(captureCents).toBe(0);
    expect(rest).toMatchObject({ amountCents: 7000, why: null });
    const { status } = await admin("POST", `orders/${bought.orderId}/refund`, { ...rest, isRest: true });
    expect(status).toBe(200);
    expect(await balances(bought)).toEqual([5000]);
    expect(await figures(bought)).toMatchObject({ paid: 70, refunded: 70 });
  });

  test("captures first, if the person confirms that: two cards, VAT, 10 % off, fractions of a cent", async () => {
    const bought = await buy(
      { sonata: 2, nocturne: 1 },
      { balancesCents: [1234, 3456], codes: ["TEN"], captured: "cards" },
    );
    const total = Math.round((await shop.storefront.order(bought.orderId)).total * 100);
    const refund = await refundOf(shop.storefront, bought.orderId);
    expect(refund).toMatchObject({ owedCents: 0, captureCents: total - 4690 });
    expect(refund.rest).toMatchObject({ amountCents: total, why: null });
    const path = `orders/${bought.orderId}/refund`;
    const { parts, amountCents } = refund.rest;
    for (const captureCents of [undefined, 0, refund.captureCents + 1])
      expect(await admin("POST", path, { parts, amountCents, isRest: true, captureCents })).toMatchObject({
        ...{ status: 400, body: { reasons: [{ code: "captureChanged" }, { code: "nothing" }] } },
      });
    const wanted = { parts, amountCents, isRest: true, captureCents: refund.captureCents };
    const answers = await Promise.all([admin("POST", path, wanted), admin("POST", path, wanted)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    await expectRefunded(bought, total, [1234, 3456]);
    expect((await refundOf(shop.storefront, bought.orderId)).rest).toBeNull();
  });

  test("of everything that is left, after an exchange and a return", { tags: "long" }, async () => {
    const bought = await buy({ sonata: 3 }, { captured: "all", codes: ["TEN"] });
    const total = 6737;
    await fulfil(shop.storefront, bought.orderId, ["sonata"]);
    const { products } = await shop.storefront.ok("GET", "/store/products?handle=sonata&fields=variants.id");
    await exchange(shop.storefront, bought.orderId, "sonata", { variantId: products[0].variants[0].id });
    const before = await refundOf(shop.storefront, bought.orderId);
    if (before.owedCents > 0)
      expect((await admin("POST", `orders/${bought.orderId}/refund`, before.splits[0])).status).toBe(200);
    const { rest } = await refundOf(shop.storefront, bought.orderId);
    expect(rest).toMatchObject({ why: null, amountCents: total - before.owedCents });
    const { status, body } = await admin("POST", `orders/${bought.orderId}/refund`, { ...rest, isRest: true });
    expect(status, JSON.stringify(body)).toBe(200);
    await expectRefunded(bought, total, [5000]);
  });

  test("of everything that is left, although an exchange still has to be paid, or an edit changed it", {
    tags: "long",
  }, async () => {
    const exchanged = await buy({ sonata: 2 }, { captured: "all", codes: ["TEN"] });
    await fulfil(shop.storefront, exchanged.orderId, ["sonata"]);
    const { products } = await shop.storefront.ok("GET", "/store/products?handle=nocturne&fields=id,variants.id");
    await exchange(shop.storefront, exchanged.orderId, "sonata", { variantId: products[0].variants[0].id });
    const plan = await planOf({ productId: products[0].id });
    const refused = plan.refused.find(({ orderId }: Bought) => orderId === exchanged.orderId);
    expect(refused.why).toMatchObject([{ code: "due" }, { code: "useRest" }]);
    const edited = await buy({ sonata: 2 }, { captured: "all", codes: ["TEN"] });
    await editTo(shop.storefront, edited.orderId, "sonata", 3);
    for (const bought of [exchanged, edited]) {
      const { rest, captureCents } = await refundOf(shop.storefront, bought.orderId);
      expect(rest).toMatchObject({ why: null, amountCents: 4491 });
      const wanted = { ...rest, isRest: true, captureCents };
      const { status, body } = await admin("POST", `orders/${bought.orderId}/refund`, wanted);
      expect(status, JSON.stringify(body)).toBe(200);
      await expectRefunded(bought, 4491, [5000]);
    }
  });

  test("of everything is refused while an edit is open, and says so", { tags: "long" }, async () => {
    const bought = await buy({ sonata: 1 }, { captured: "all" });
    await shop.storefront.ok("POST", "/admin/order-edits", { order_id: bought.orderId });
    const { rest } = await refundOf(shop.storefront, bought.orderId);
    expect(rest).toMatchObject({ parts: [], why: [{ code: "openEdit" }] });
    await shop.storefront.ok("DELETE", `/admin/order-edits/${bought.orderId}`);
    const { rest: now } = await refundOf(shop.storefront, bought.orderId);
    await shop.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
    expect((await refundOf(shop.storefront, bought.orderId)).rest).toBeNull();
    expect(await admin("POST", `orders/${bought.orderId}/refund`, { ...now, isRest: true })).toMatchObject({
      status: 400,
    });
    expect(await balances(bought)).toEqual([5000]);
  });

  test("of everything stops before the refund if a payment can't be captured", { tags: "long" }, async () => {
    const bought = await buy({ sonata: 3 });
    const { rest, captureCents } = await refundOf(shop.storefront, bought.orderId);
    await failOn("capture", isOfBank);
    const wanted = { ...rest, isRest: true, captureCents };
    expect(await admin("POST", `orders/${bought.orderId}/refund`, wanted)).toMatchObject({
      ...{ status: 400, body: { message: expect.stringMatching(/couldn't be captured.*Nothing was refunded/) } },
    });
    expect(await balances(bought)).toEqual([0]);
    await database.query("drop function fails() cascade");
    const again = await refundOf(shop.storefront, bought.orderId);
    expect(again).toMatchObject({ captureCents: 2485, rest: { amountCents: 7485 } });
    const retried = { ...again.rest, isRest: true, captureCents: 2485 };
    expect((await admin("POST", `orders/${bought.orderId}/refund`, retried)).status).toBe(200);
    await expectRefunded(bought, 7485, [5000]);
  });
});

describe("Medusa's own refund of a card's payment says what to do", () => {
  const refund = (id: string, amount?: number) =>
    shop.storefront.send("POST", `/admin/payments/${id}/refund`, { amount });

  test("if it isn't captured, is more than is left, or has fractions of a cent", async () => {
    const bought = await buy({ sonata: 3 });
    const [gift] = paymentsOf(await shop.storefront.order(bought.orderId)).gifts;
    const said = async (amount?: number) => {
      const { status, body } = await refund(gift.id, amount);
      expect(status).toBe(400);
      return body.message as string;
    };
    expect(await said(50)).toMatch(/isn't captured yet\. Capture it first, or use .*Nothing was refunded/);
    expect(await said()).toMatch(/isn't captured yet/);
    await shop.storefront.ok("POST", `/admin/payments/${gift.id}/capture`, {});
    expect(await said(60)).toMatch(/Only 50\.00 of this gift card payment is left to refund/);
    expect(await said(0.005)).toMatch(/whole cents/);
    expect(await balances(bought)).toEqual([0]);
    expect((await refund(gift.id, 50)).status).toBe(200);
    expect(await said(1)).toMatch(/All of this gift card payment is refunded already/);
    expect(await balances(bought)).toEqual([5000]);
  });
});
