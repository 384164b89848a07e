import type { OrderLine } from "@giftcard-pay/checkout";
import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";

interface Priced {
  id: string;
  total: BigNumberInput;
}

/** Its total is of so many units: Medusa leaves out what was returned. */
type SoldLine = Priced & { quantity: BigNumberInput };

interface OrderRow {
  items?:
    | (SoldLine & {
        detail?: Partial<Record<`return_${"received" | "dismissed"}_quantity`, BigNumberInput>>;
      })[]
    | null;
  shipping_methods?: Priced[] | null;
}

/**
 * The lines of an order in whole cents, tax and discounts included, without what was returned: its items in the order of
 * their ids, then its shipping. Medusa may round their sum otherwise: see `fitLines`.
 */
export async function readOrderLines(container: MedusaContainer, orderId: string): Promise<OrderLine[]> {
  return (await readSoldLines(container, orderId)).map(({ id, quantity, total }) => ({
    ...{ id, quantity: MathBN.convert(quantity).toNumber(), totalCents: Math.max(0, toCents(total)) },
  }));
}

/** What an order sold and wasn't returned: its items in the order of their ids, then its shipping, tax and discounts included. */
export async function readSoldLines(container: MedusaContainer, orderId: string): Promise<SoldLine[]> {
  const order = await container.resolve(Modules.ORDER).retrieveOrder(orderId, {
    // Medusa adds the lines up only where the order's own total is asked for.
    select: ["id", "total"] as never[],
    relations: ["items", "shipping_methods"],
  });
  const { items, shipping_methods: shipping } = order as unknown as OrderRow;
  const left = items?.map(({ id, total, quantity, detail }) => {
    const returned = MathBN.sum(
      detail?.return_received_quantity ?? 0,
      detail?.return_dismissed_quantity ?? 0,
    );
    return { id, total, quantity: MathBN.sub(quantity, returned) };
  });
  return [...byId(left), ...byId(shipping?.map((method) => ({ ...method, quantity: 1 })))];
}

const byId = <T extends Priced>(sold: readonly T[] | null | undefined): T[] =>
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
