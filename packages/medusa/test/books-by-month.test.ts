// @module-tag long
import { dayOf } from "@giftcard-pay/checkout/operator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exchange, fulfil, markPaid, takeBack } from "./support/order-admin.js";
import { buy, fillCart, giveBack } from "./support/ordinary-shop.js";
import { startShop, type TestShop } from "./support/shop.js";

/* Tickets have 9 % VAT and lamps 21 %, and 10 % is off. The sale is in one month, and what follows in another. */

const DAY_MS = 24 * 60 * 60_000;
const MONTH_MS = 40 * DAY_MS;
/** Longer than a purchase takes: the export leaves out what is younger than two minutes. */
const SETTLED_MS = 3 * 60_000;

let shop: TestShop;
beforeAll(async () => {
  shop = await startShop({ TEST_RECOVER_BY_HAND: "yes" }, { charges: "by-line" });
  await shop.storefront.createProduct("ticket", 24.95);
  await shop.storefront.createProduct("lamp", 74.98, { type_id: null });
});
afterAll(() => shop?.stop());

async function setInclusive(isInclusive: boolean): Promise<void> {
  const { price_preferences } = await shop.storefront.ok("GET", "/admin/price-preferences?limit=50");
  for (const { id } of price_preferences)
    await shop.storefront.ok("POST", `/admin/price-preferences/${id}`, { is_tax_inclusive: isInclusive });
}

interface Totals {
  reconciles: boolean;
  receivableCents: number;
  until: string | null;
  byKind: Record<string, { count: number; grossCents: number }>;
  byRate: { ratePercent: string; grossCents: number; netCents: number; vatCents: number }[];
  byMethod: { method: string; paidCents: number; repaidCents: number; netCents: number }[];
}

/** The totals of some days around a time this long ago. */
async function booksOf(agoMs: number): Promise<Totals> {
  const day = (ms: number) => dayOf(new Date(Date.now() - agoMs + ms));
  const path = `/admin/giftcard-pay/books?from=${day(-2 * DAY_MS)}&to=${day(2 * DAY_MS)}`;
  const { books } = await shop.storefront.ok("GET", path);
  expect(books.checks.filter(({ differenceCents }: { differenceCents: number }) => differenceCents !== 0)).toEqual([]);
  for (const { grossCents, netCents, vatCents } of books.byRate) expect(netCents + vatCents).toBe(grossCents);
  return books;
}

const kindsOf = ({ byKind }: Totals) =>
  Object.fromEntries(
    Object.entries(byKind)
      .filter(([, { count }]) => count > 0)
      .map(([kind, { grossCents }]) => [kind, grossCents]),
  );
const rateOf = ({ byRate }: Totals, rate: string) =>
  byRate.find(({ ratePercent }) => ratePercent === rate) ?? { grossCents: 0, netCents: 0, vatCents: 0 };
const paidOf = ({ byMethod }: Totals) => byMethod.reduce((sum, { netCents }) => sum + netCents, 0);

/** Medusa's own gross and tax of an order's items in cents, by the handle of their product. */
async function itemsOf(orderId: string): Promise<Record<string, { gross: number; tax: number }>> {
  const fields = "id,total,item_total,item_tax_total,*items";
  const { order } = await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=${fields}`);
  return Object.fromEntries(
    order.items.map((item: { product_handle: string; total: number; tax_total: number }) => [
      item.product_handle,
      { gross: item.total * 100, tax: item.tax_total * 100 },
    ]),
  );
}

/** An amount of the books, which may differ from one of Medusa's, with its fractions of a cent, by less than a cent. */
const about = (cents: number) => expect.toSatisfy((own: number) => Math.abs(own - cents) < 1, `about ${cents}`);

/** Moves everything so far into a month of its own. */
async function nextMonth(): Promise<void> {
  await shop.passTime(MONTH_MS);
}

describe.each([true, false])("with prices that include tax: %s", (isInclusive) => {
  beforeAll(async () => {
    await nextMonth();
    await setInclusive(isInclusive);
  });

  test("a refund counts in its own month, at the rate of what was returned", async () => {
    const { orderId } = await buy(shop, { ticket: 2, lamp: 2 }, { balancesCents: [3000, 2000] });
    const items = await itemsOf(orderId);
    await fulfil(shop.storefront, orderId, ["ticket", "lamp"]);
    await nextMonth();
    const sold = await booksOf(MONTH_MS);
    expect(sold.until).toBeNull();
    expect(rateOf(sold, "9")).toMatchObject({
      grossCents: about(items.ticket?.gross ?? 0),
      vatCents: about(items.ticket?.tax ?? 0),
    });
    expect(rateOf(sold, "21")).toMatchObject({
      grossCents: about(items.lamp?.gross ?? 0),
      vatCents: about(items.lamp?.tax ?? 0),
    });
    const soldCents = rateOf(sold, "9").grossCents + rateOf(sold, "21").grossCents;
    expect(kindsOf(sold)).toEqual({ sale: soldCents });
    expect([paidOf(sold), sold.receivableCents]).toEqual([soldCents, 0]);

    await takeBack(shop.storefront, orderId, "lamp", 1);
    const refundedCents = await giveBack(shop.storefront, orderId);
    await shop.passTime(SETTLED_MS);
    const returned = await booksOf(0);
    expect(kindsOf(returned)).toEqual({ refund: -refundedCents });
    expect(rateOf(returned, "9").grossCents).toBe(0);
    expect(rateOf(returned, "21")).toMatchObject({
      grossCents: -refundedCents,
      vatCents: about(-(items.lamp?.tax ?? 0) / 2),
    });
    expect([paidOf(returned), returned.receivableCents]).toEqual([-refundedCents, 0]);
    // The month of the sale stays as it was booked.
    expect(await booksOf(MONTH_MS)).toEqual(sold);

    await nextMonth();
    await shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});
    await takeBack(shop.storefront, orderId, "lamp", 1);
    await giveBack(shop.storefront, orderId);
    await takeBack(shop.storefront, orderId, "ticket", 2);
    await giveBack(shop.storefront, orderId);
    await shop.passTime(SETTLED_MS);
    const rest = await booksOf(0);
    for (const rate of ["9", "21"])
      for (const of of ["grossCents", "netCents", "vatCents"] as const)
        expect(rateOf(sold, rate)[of] + rateOf(returned, rate)[of] + rateOf(rest, rate)[of], `${rate} ${of}`).toBe(0);
    expect(paidOf(sold) + paidOf(returned) + paidOf(rest)).toBe(0);
  });

  test("an exchange moves its value from one rate to the other in its own month", async () => {
    await nextMonth();
    const { orderId } = await buy(shop, { ticket: 1, lamp: 1 }, { balancesCents: [3000] });
    await fulfil(shop.storefront, orderId, ["ticket", "lamp"]);
    await nextMonth();
    const sold = await booksOf(MONTH_MS);
    const { products } = await shop.storefront.ok("GET", "/store/products?handle=lamp&fields=variants.id");
    await exchange(shop.storefront, orderId, "ticket", { variantId: products[0].variants[0].id });
    await markPaid(shop.storefront, orderId);
    await shop.passTime(SETTLED_MS);
    const changed = await booksOf(0);
    const lampCents = Math.round(7498 * (isInclusive ? 1 : 1.21));
    expect(rateOf(changed, "9").grossCents).toBe(-rateOf(sold, "9").grossCents);
    expect(rateOf(changed, "9").vatCents).toBe(-rateOf(sold, "9").vatCents);
    expect(rateOf(changed, "21")).toMatchObject({ grossCents: lampCents, vatCents: about((lampCents * 21) / 121) });
    expect(kindsOf(changed)).toEqual({ change: lampCents - rateOf(sold, "9").grossCents });
    expect([paidOf(changed), changed.receivableCents]).toEqual([lampCents - rateOf(sold, "9").grossCents, 0]);
    expect(await booksOf(MONTH_MS)).toEqual(sold);
  });
});

test("a purchase in progress is left out until it has ended", async () => {
  await nextMonth();
  const { cartId } = await fillCart(shop, { ticket: 2, lamp: 1 }, { balancesCents: [3000] });
  await shop.storefront.initiate(cartId);
  shop.proxy.set("devalue", "hold", 1);
  const before = shop.proxy.seen.length;
  const completing = shop.storefront.complete(cartId);
  await expect.poll(() => shop.proxy.seen.length, { interval: 50 }).toBeGreaterThan(before);
  const during = await booksOf(0);
  expect([kindsOf(during), during.receivableCents, paidOf(during)]).toEqual([{}, 0, 0]);
  expect(Date.now() - Date.parse(during.until ?? "")).toBeGreaterThan(2 * 60_000);
  await shop.proxy.release();
  expect((await completing).body.type).toBe("order");
  const just = await booksOf(0);
  expect(kindsOf(just)).toEqual({});
  await shop.passTime(SETTLED_MS);
  const after = await booksOf(0);
  expect(Object.keys(kindsOf(after))).toEqual(["sale"]);
  expect(paidOf(after)).toBe(3000);
});
