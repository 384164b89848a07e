import type { MedusaContainer } from "@medusajs/framework/types";
import { z } from "@medusajs/framework/zod";
import { contextOf } from "../context/context.js";
import { refusal } from "../errors.js";
import { writePurpose } from "../journal-tables/refund-purposes.js";
import { withOrder } from "./balanced-books.js";
import type { OrderBooks } from "./order-books.js";

const purposeSchema = z.strictObject({ units: z.record(z.string().min(1), z.number().int().min(1)) });

/**
 * Records what a refund by hand was for, as a person states: units of lines, or nothing that was sold, such as a
 * goodwill gesture. These units count as refunded from then on, however they come back.
 * @param purpose `{ units: { [line]: count } }`; no units for a gesture
 * @throws {MedusaError} if the refund needs no explanation, or the order doesn't have that many units left
 */
export async function explainRefund(
  container: MedusaContainer,
  { orderId, refundId }: { readonly orderId: string; readonly refundId: string },
  purpose: unknown,
  actor: string,
): Promise<void> {
  const { success, data } = purposeSchema.safeParse(purpose);
  if (!success) throw notRecorded("Say what it was for: { units: { [line id]: count } }, or no units for a gesture.");
  await withOrder(container, orderId, async (books) => {
    const refund = books.unexplained.find((unexplained) => unexplained.refundId === refundId);
    if (!refund) throw notRecorded("This refund needs no explanation.");
    const units = unitsBackWith(books, data.units);
    const { beyondCents } = refund;
    await writePurpose(contextOf(container).sql, { refundId, orderId, units, beyondCents, actor });
  });
}

/** Adds these units to those that are back; null for none. */
function unitsBackWith({ items }: OrderBooks, named: Record<string, number>): Record<string, number> | null {
  const units = Object.entries(named).map(([id, count]): [string, number] => {
    const found = items.find(({ item }) => item.id === id);
    if (!found) throw notRecorded(`The order has no line ${id}.`);
    const left = found.sold - found.back;
    if (count > left) throw notRecorded(`Only ${left} of "${found.item.title}" weren't refunded yet, not ${count}.`);
    return [id, found.back + count];
  });
  return units.length > 0 ? Object.fromEntries(units) : null;
}

const notRecorded = (message: string) => refusal(`${message} Nothing was recorded.`);
