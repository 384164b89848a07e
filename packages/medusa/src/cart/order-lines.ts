import type { OrderLine } from "@giftcard-pay/checkout";
import type { Cents } from "@giftcard-pay/client";
import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";

/** A line in its current state in Medusa. Its total covers `quantity` units, without returned ones. */
export interface SoldLine {
  readonly id: string;
  readonly total: BigNumberInput;
  readonly quantity: BigNumberInput;
}

type Priced = Pick<SoldLine, "id" | "total">;

/**
 * Reads the lines of an order that were sold and not returned, including tax and discounts: its items in the order of their ids,
 * then its shipping. Totals may have fractions of a cent.
 */
export async function readSoldLines(container: MedusaContainer, orderId: string): Promise<SoldLine[]> {
  const { items, shipping_methods: shipping } = await container.resolve(Modules.ORDER).retrieveOrder(orderId, {
    // Medusa computes the lines' totals only if the order's own total is selected.
    select: ["id", "total"] as never[],
    relations: ["items", "shipping_methods"],
  });
  const left = items?.map(({ id, total, quantity, detail }) => {
    const returned = MathBN.sum(detail?.return_received_quantity ?? 0, detail?.return_dismissed_quantity ?? 0);
    return { id, total, quantity: MathBN.sub(quantity, returned) };
  });
  const methods = shipping?.map(({ id, total }) => ({ id, total, quantity: 1 }));
  return [...byId(left), ...byId(methods)];
}

const byId = <T extends Priced>(sold: readonly T[] | null | undefined): T[] =>
  [...(sold ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));

/**
 * Splits a total over lines in proportion to Medusa's totals. It rounds the running sum instead of each line, so that
 * the lines add up to the total, and each is less than a cent from its exact share.
 * @param totalCents what the buyer pays for these lines
 * @returns one line called `order` if there are none and something is paid
 */
export function shareCents(sold: readonly SoldLine[], totalCents: number): OrderLine[] {
  const sum = sold.reduce((total, line) => MathBN.add(total, line.total), MathBN.convert(0));
  const isFree = MathBN.lte(sum, 0);
  let running = MathBN.convert(0);
  let sharedCents = 0;
  const lines = sold.map(({ id, quantity, total }, index) => {
    running = MathBN.add(running, MathBN.max(0, total));
    const isLast = index === sold.length - 1;
    const share = isFree ? 0 : MathBN.div(MathBN.mult(running, totalCents), MathBN.mult(sum, 100));
    const untilCents = isLast ? totalCents : Math.min(totalCents, toCents(share));
    const lineCents = (untilCents - sharedCents) as Cents;
    sharedCents = untilCents;
    return { id, quantity: MathBN.convert(quantity).toNumber(), totalCents: lineCents };
  });
  return lines.length > 0 || totalCents === 0 ? lines : [{ id: "order", quantity: 1, totalCents: totalCents as Cents }];
}
