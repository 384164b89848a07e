import type { OrderLine } from "@giftcard-pay/checkout";
import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";

interface Sold {
  id: string;
  total: BigNumberInput;
}

interface OrderRow {
  items?: (Sold & { quantity: BigNumberInput })[] | null;
  shipping_methods?: Sold[] | null;
}

/**
 * The lines of an order, tax and discounts included: its items in the order of their ids, then its shipping. They add up
 * to its total: where Medusa rounds the lines otherwise than the total, the last ones take the difference.
 *
 * @param totalCents the order's total; left out, each line is as Medusa rounds it
 */
export async function readOrderLines(
  container: MedusaContainer,
  orderId: string,
  totalCents?: number,
): Promise<OrderLine[]> {
  const order = await container.resolve(Modules.ORDER).retrieveOrder(orderId, {
    select: ["id", "total"] as never[],
    relations: ["items", "shipping_methods"],
  });
  const { items, shipping_methods: shipping } = order as unknown as OrderRow;
  const sold = [...byId(items), ...byId(shipping?.map((method) => ({ ...method, quantity: 1 })))];
  const lines = sold.map(({ id, quantity, total }) => ({
    ...{ id, quantity: MathBN.convert(quantity).toNumber(), totalCents: Math.max(0, toCents(total)) },
  }));
  return totalCents === undefined ? lines : fitLines(lines, totalCents);
}

const byId = <T extends Sold>(sold: readonly T[] | null | undefined): T[] =>
  [...(sold ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));

/** Makes lines add up to a total: what is missing comes onto the last one, what is too much goes off the last ones. */
export function fitLines(lines: readonly OrderLine[], totalCents: number): OrderLine[] {
  const overCents = lines.reduce((sum, line) => sum + line.totalCents, -totalCents);
  const [last] = lines.slice(-1);
  if (overCents < 0) {
    const missing = { id: last?.id ?? "order", quantity: last?.quantity ?? 1 };
    return [...lines.slice(0, -1), { ...missing, totalCents: (last?.totalCents ?? 0) - overCents }];
  }
  let leftCents = overCents;
  return lines
    .toReversed()
    .map((line) => {
      const offCents = Math.min(leftCents, line.totalCents);
      leftCents -= offCents;
      return { ...line, totalCents: line.totalCents - offCents };
    })
    .toReversed();
}
