import { expect } from "vitest";
import { paymentsOf } from "./figures.js";
import { refundOf } from "./order-admin.js";
import type { SharedShop } from "./shop.js";
import type { Card, Storefront } from "./storefront.js";

/** The shop's promotion codes: 10 % off, 5.00 off, and free shipping. */
export type Code = "TEN" | "FIVE" | "FREESHIP";

/** A cart's contents: the quantity of each product, by its handle. */
export type Goods = Readonly<Record<string, number>>;

export interface Bought {
  readonly orderId: string;
  readonly cartId: string;
  readonly cards: readonly Card[];
}

/** Fills a cart and applies cards to it. @returns the last quote */
export async function fillCart(
  { storefront: s, service }: SharedShop,
  goods: Goods,
  { balancesCents, codes = ["TEN"] }: { balancesCents: readonly number[]; codes?: readonly Code[] },
) {
  const [[first, count], ...more] = Object.entries(goods) as [[string, number], ...[string, number][]];
  const cartId = await s.createCart(first, count);
  for (const [handle, quantity] of more) await s.addItem(cartId, handle, quantity);
  if (codes.length > 0) await s.ok("POST", `/store/carts/${cartId}/promotions`, { promo_codes: codes });
  const cards: Card[] = [];
  let quote = await s.ok("GET", `/store/giftcard-pay/carts/${cartId}`);
  for (const balanceCents of balancesCents) {
    if (quote.remainderCents === 0) break;
    const card = await service.issueCard({ balanceCents });
    const { status, body } = await s.apply(cartId, card);
    expect(status, JSON.stringify(body)).toBe(200);
    cards.push(card);
    quote = body;
  }
  return { cartId, cards, quote };
}

/** Buys with cards and the remainder by the bank, and captures everything. */
export async function buy(
  shop: SharedShop,
  goods: Goods,
  options: { balancesCents: readonly number[]; codes?: readonly Code[]; captured?: boolean },
): Promise<Bought> {
  const { storefront: s } = shop;
  const { cartId, cards, quote } = await fillCart(shop, goods, options);
  if (quote.remainderCents > 0) expect((await s.initiate(cartId)).status).toBe(200);
  const { body } = await s.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  const orderId = body.order.id as string;
  if (options.captured !== false) await capture(s, orderId);
  return { orderId, cartId, cards };
}

async function capture(s: Storefront, orderId: string): Promise<void> {
  const { gifts, others } = paymentsOf(await s.order(orderId));
  for (const { id } of [...gifts, ...others]) await s.ok("POST", `/admin/payments/${id}/capture`, {});
}

/** Uses the refund button of the order's page. @returns the refunded cents */
export async function giveBack(s: Storefront, orderId: string): Promise<number> {
  const refund = await refundOf(s, orderId);
  expect(refund, JSON.stringify(refund)).toMatchObject({ isPossible: true });
  const { status, body } = await s.send("POST", `/admin/giftcard-pay/orders/${orderId}/refund`, refund.splits[0]);
  expect(status, JSON.stringify(body)).toBe(200);
  return refund.splits[0].amountCents;
}

interface Payment {
  readonly provider_id: string;
  readonly captures: { amount: number }[];
  readonly refunds: { amount: number }[];
}

/** The cents that the bank holds of an order: captured minus refunded. */
export async function bankCents(s: Storefront, orderId: string): Promise<number> {
  const { payment_collections: collections } = await s.order(orderId);
  const payments: Payment[] = collections.flatMap(({ payments }: { payments: Payment[] }) => payments);
  const others = payments.filter(({ provider_id }) => provider_id !== "pp_giftcard_giftcard");
  const sum = (rows: { amount: number }[]) => rows.reduce((cents, { amount }) => cents + Math.round(amount * 100), 0);
  return others.reduce((cents, { captures, refunds }) => cents + sum(captures) - sum(refunds), 0);
}
