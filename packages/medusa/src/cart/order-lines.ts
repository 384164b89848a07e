import type { OrderLine } from "@giftcard-pay/checkout";
import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";

/** A line in its current state in Medusa. Its total covers `quantity` units, without returned ones. */
export interface SoldLine {
  readonly id: string;
  readonly total: BigNumberInput;
  readonly quantity: BigNumberInput;
  /** null for shipping. */
  readonly unitPrice: BigNumberInput | null;
}

interface Priced {
  id: string;
  total: BigNumberInput;
}

interface OrderRow {
  items?:
    | (Priced & {
        quantity: BigNumberInput;
        unit_price: BigNumberInput;
        detail?: Partial<Record<`return_${"received" | "dismissed"}_quantity`, BigNumberInput>>;
      })[]
    | null;
  shipping_methods?: Priced[] | null;
}

/**
 * Reads what an order sold and wasn't returned, including tax and discounts: its items in the order of their ids,
 * then its shipping. Totals may have fractions of a cent.
 */
export async function readSoldLines(container: MedusaContainer, orderId: string): Promise<SoldLine[]> {
  const order = await container.resolve(Modules.ORDER).retrieveOrder(orderId, {
    // Medusa computes the lines' totals only if the order's own total is selected.
    select: ["id", "total"] as never[],
    relations: ["items", "shipping_methods"],
  });
  const { items, shipping_methods: shipping } = order as unknown as OrderRow;
  const left = items?.map(({ id, total, quantity, unit_price: unitPrice, detail }) => {
    const returned = MathBN.sum(
      detail?.return_received_quantity ?? 0,
      detail?.return_dismissed_quantity ?? 0,
    );
    return { id, total, quantity: MathBN.sub(quantity, returned), unitPrice };
  });
  const methods = shipping?.map(({ id, total }) => ({ id, total, quantity: 1, unitPrice: null }));
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
    const cents = untilCents - sharedCents;
    sharedCents = untilCents;
    return { id, quantity: MathBN.convert(quantity).toNumber(), totalCents: cents };
  });
  return lines.length > 0 || totalCents === 0 ? lines : [{ id: "order", quantity: 1, totalCents }];
}

/**
 * Computes the lines of an order, as they were sold, if nobody recorded them when it was placed.
 * @param units how many units of each item the order had when it was placed, by its id; 0 for those that were added
 *   since
 * @param totalCents the order's total when it was placed
 */
export async function linesAsSold(
  container: MedusaContainer,
  orderId: string,
  { units, totalCents }: { readonly units: ReadonlyMap<string, number>; readonly totalCents: number },
): Promise<OrderLine[]> {
  const sold = await readSoldLines(container, orderId);
  const placed = sold.filter(({ id }) => units.get(id) !== 0);
  const whole = placed.map((line) => {
    const { id, total, quantity, unitPrice } = line;
    const soldQuantity = units.get(id) ?? 1;
    const isLeft = MathBN.gt(quantity, 0);
    const each = isLeft ? MathBN.div(total, quantity) : (unitPrice ?? 0);
    return { ...line, quantity: soldQuantity, total: MathBN.mult(each, soldQuantity) };
  });
  // Medusa doesn't keep the value of an item that an edit removed.
  const isRemoved = [...units].some(([id, count]) => count > 0 && !sold.some((line) => line.id === id));
  const worth = whole.reduce((total, line) => MathBN.add(total, line.total), MathBN.convert(0));
  return shareCents(whole, isRemoved ? Math.min(totalCents, toCents(worth)) : totalCents);
}
