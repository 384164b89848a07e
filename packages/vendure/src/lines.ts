import type { CartView, OrderLine } from "@giftcard-pay/checkout";
import type { Cents } from "@giftcard-pay/client";
import type { Order } from "@vendure/core";

/** A line of Vendure. Its amount may be negative. */
type Line = Omit<OrderLine, "totalCents"> & { readonly totalCents: number };
type Cart = Pick<CartView, "id" | "totalCents" | "currency">;

/** Returns an order as the checkout needs it. Vendure's code of the order is the id of its cart and of its payment. */
export const cartOf = ({ code, totalWithTax, currencyCode }: Order): Cart => ({
  id: code,
  totalCents: totalWithTax as Cents,
  currency: currencyCode,
});

/**
 * Returns the lines of an order with their tax and promotions. Shipping and surcharges are lines of their own and come last,
 * because they are returned last.
 */
export function linesOf(order: Order): OrderLine[] {
  const lines = order.lines
    .filter(({ quantity }) => quantity > 0)
    .map((line) => ({
      id: `line-${line.id}`,
      quantity: line.quantity,
      totalCents: line.proratedLinePriceWithTax,
    }));
  const surcharges = (order.surcharges ?? []).map(({ id, priceWithTax }) => ({
    id: `surcharge-${id}`,
    quantity: 1,
    totalCents: priceWithTax,
  }));
  const shipping = (order.shippingLines ?? []).map(({ id, discountedPriceWithTax }) => ({
    id: `shipping-${id}`,
    quantity: 1,
    totalCents: discountedPriceWithTax,
  }));
  return addUpTo([...lines, ...surcharges, ...shipping], order.totalWithTax);
}

/**
 * Makes the lines add up to the order's total. They can differ if a surcharge is negative, or by cents if the shop rounds
 * its totals in another way. The difference is spread in proportion to the lines.
 */
export function addUpTo(lines: readonly Line[], totalCents: number): OrderLine[] {
  const paid = lines.filter((line): line is OrderLine => line.totalCents > 0);
  const sumCents = paid.reduce((sum, line) => sum + line.totalCents, 0);
  if (sumCents === totalCents) return paid;
  if (sumCents === 0) return [{ id: "order", quantity: 1, totalCents: totalCents as Cents }];
  let beforeCents = 0;
  let givenCents = 0;
  return paid.map((line) => {
    beforeCents += line.totalCents;
    const untilCents = Math.round((beforeCents * totalCents) / sumCents);
    const lineCents = (untilCents - givenCents) as Cents;
    givenCents = untilCents;
    return { ...line, totalCents: lineCents };
  });
}
