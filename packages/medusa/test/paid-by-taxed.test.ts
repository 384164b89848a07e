// @module-tag long
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inCents } from "../../../scripts/shops/whole-cents.mjs";
import { startShop, type TestShop } from "./support/shop.js";

/*
 * Random orders with tax: paying by card changes neither total nor tax, and the paid-by record is right to the cent. Each
 * order is bought twice, with and without cards. `RUNS` sets how many; a failure prints its seed.
 */

const RUNS = Number(process.env.RUNS ?? 4);
const prices = { pencil: 0.99, book: 12.345, print: 33.33, poster: 20, lamp: 74.98 };
type Handle = keyof typeof prices;
const handles = Object.keys(prices) as Handle[];
/** Products sold as tickets, at the reduced rate; all others have the standard rate. */
const reduced: readonly Handle[] = ["book", "poster"];

let shop: TestShop;
let regionId: string;
beforeAll(async () => {
  shop = await startShop({}, { charges: "by-line" });
  const { storefront } = shop;
  for (const handle of handles)
    await storefront.createProduct(handle, prices[handle], reduced.includes(handle) ? {} : { type_id: null });
  regionId = (await storefront.ok("GET", "/store/regions")).regions[0].id;
});
afterAll(() => shop?.stop());

const anOrder = fc.record({
  lines: fc.uniqueArray(fc.record({ handle: fc.constantFrom(...handles), quantity: fc.integer({ min: 1, max: 3 }) }), {
    ...{ minLength: 1, maxLength: 4, selector: ({ handle }) => handle },
  }),
  country: fc.constantFrom("nl" as const, "de" as const),
  isInclusive: fc.boolean(),
  balancesCents: fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 3 }),
  /** The units returned per line, and the amount per payment (for a card, the number of its charges). */
  returned: fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
  refunded: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
});
type AnOrder = typeof anOrder extends fc.Arbitrary<infer T> ? T : never;

/** Sets whether prices include tax, for items added to a cart from now on. */
async function setInclusive(isInclusive: boolean): Promise<void> {
  const { price_preferences } = await shop.storefront.ok("GET", "/admin/price-preferences?limit=50");
  for (const { id } of price_preferences)
    await shop.storefront.ok("POST", `/admin/price-preferences/${id}`, { is_tax_inclusive: isInclusive });
}

async function buy({ lines, country, balancesCents }: AnOrder): Promise<string> {
  const { storefront, service } = shop;
  const [first, ...more] = lines;
  const cartId = await storefront.createCart(first?.handle, first?.quantity);
  const address = { first_name: "Ada", country_code: country };
  await storefront.ok("POST", `/store/carts/${cartId}`, { region_id: regionId, shipping_address: address });
  for (const { handle, quantity } of more) await storefront.addItem(cartId, handle, quantity);
  let remainderCents = 1;
  for (const balanceCents of balancesCents) {
    if (remainderCents === 0) break;
    const applied = await storefront.apply(cartId, await service.issueCard({ balanceCents }));
    expect(applied.status, JSON.stringify(applied.body)).toBe(200);
    remainderCents = applied.body.remainderCents;
  }
  if (remainderCents > 0) await storefront.initiate(cartId);
  const { body } = await storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  return body.order.id;
}

interface Part {
  amountCents: number;
  refundedCents: number;
}
interface Told {
  totalCents: number;
  cards: Part[];
  others: Part[];
}
const sum = (parts: readonly Part[], of: (part: Part) => number) => parts.reduce((cents, part) => cents + of(part), 0);

/** The order's paid-by record and Medusa's own figures. */
async function look(orderId: string) {
  const told: Told = await shop.storefront.ok("GET", `/store/giftcard-pay/orders/${orderId}`);
  const fields =
    "id,total,tax_total,item_total,item_tax_total,shipping_total,subtotal,+summary,*items,*payment_collections.payments";
  const { order } = await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=${fields}`);
  const parts = [...told.cards, ...told.others];
  const paidCents = sum(parts, ({ amountCents }) => amountCents);
  const heldCents = sum(parts, ({ amountCents, refundedCents }) => amountCents - refundedCents);
  return { told, order, paidCents, heldCents };
}

/** Figures that must be the same with a card and with another method. */
const figuresOf = ({ order }: Awaited<ReturnType<typeof look>>) => ({
  ...{ total: order.total, subtotal: order.subtotal, tax: order.tax_total },
  ...{ items: order.item_total, itemTax: order.item_tax_total, shipping: order.shipping_total },
});

/** Fulfils everything, then returns a part. */
async function takeBack(orderId: string, { lines, returned }: AnOrder): Promise<void> {
  const { storefront } = shop;
  const { order } = await look(orderId);
  const { stock_locations } = await storefront.ok("GET", "/admin/stock-locations");
  const location_id = stock_locations[0].id;
  const items = order.items.map(({ id, quantity }: { id: string; quantity: number }) => ({ id, quantity }));
  await storefront.ok("POST", `/admin/orders/${orderId}/fulfillments`, { items, location_id });
  const back = lines.flatMap(({ handle, quantity }, index) => {
    const item = order.items.find((one: { product_handle: string }) => one.product_handle === handle);
    const some = Math.min(quantity, returned[index] ?? 0);
    return some > 0 ? [{ id: item.id, quantity: some }] : [];
  });
  if (back.length === 0) return;
  const { return: begun } = await storefront.ok("POST", "/admin/returns", { order_id: orderId, location_id });
  const path = `/admin/returns/${begun.id}`;
  await storefront.ok("POST", `${path}/request-items`, { items: back });
  await storefront.ok("POST", `${path}/request`, {});
  await storefront.ok("POST", `${path}/receive`, {});
  await storefront.ok("POST", `${path}/receive-items`, { items: back });
  await storefront.ok("POST", `${path}/receive/confirm`, {});
}

/** @returns the cents to refund from a payment; for a card, the sum of its first charges */
function wantedCents(payment: { provider_id: string; amount: number; data: unknown }, share: number): number {
  if (payment.provider_id === "pp_bank_bank") return Math.floor(payment.amount * 100 * share);
  const { charges } = payment.data as { charges: { amount_cents: number }[] };
  const some = charges.slice(0, Math.floor((charges.length + 1) * share));
  return some.reduce((cents, { amount_cents }) => cents + amount_cents, 0);
}

async function checkOrder(one: AnOrder): Promise<void> {
  await setInclusive(one.isInclusive);
  const orderId = await buy(one);
  const twinId = await buy({ ...one, balancesCents: [] });
  const [placed, twin] = [await look(orderId), await look(twinId)];
  expect(placed.paidCents).toBe(placed.told.totalCents);
  expect(placed.told.totalCents).toBe(inCents(placed.order.total));
  expect(placed.heldCents).toBe(placed.paidCents);
  expect(placed.told.cards.length).toBeGreaterThan(0);
  expect(placed.order.tax_total).toBeGreaterThan(0);
  expect(figuresOf(placed)).toEqual(figuresOf(twin));
  expect(twin.told).toMatchObject({ cards: [], others: [{ amountCents: twin.told.totalCents }] });

  const { payments } = placed.order.payment_collections[0];
  for (const { id } of payments) await shop.storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  await takeBack(orderId, one);
  await takeBack(twinId, one);
  const after = await look(orderId);
  expect(figuresOf(after)).toEqual(figuresOf(await look(twinId)));
  expect(after.told.totalCents).toBe(inCents(after.order.total));
  expect(after.heldCents).toBe(placed.paidCents);

  let wentBackCents = 0;
  for (const [index, payment] of payments.entries()) {
    const cents = wantedCents(payment, one.refunded[index] ?? 0);
    if (cents === 0) continue;
    await shop.storefront.ok("POST", `/admin/payments/${payment.id}/refund`, { amount: cents / 100 });
    wentBackCents += cents;
  }
  const end = await look(orderId);
  expect(end.paidCents).toBe(placed.paidCents);
  expect(end.heldCents).toBe(placed.paidCents - wentBackCents);
  expect(end.heldCents).toBe(inCents(end.order.summary.transaction_total));
  if (end.order.summary.pending_difference === 0) expect(end.heldCents).toBe(end.told.totalCents);
}

test(
  `reports ${RUNS} orders to the cent, with the same tax as without a card`,
  async () => {
    await fc.assert(fc.asyncProperty(anOrder, checkOrder), { numRuns: RUNS, endOnFailure: true });
  },
  RUNS * 40_000,
);
