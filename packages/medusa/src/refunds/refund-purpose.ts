import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import { contextOf } from "../context/context.js";
import { writePurpose } from "../journal-tables/refund-purposes.js";
import { withOrder } from "./balanced-books.js";
import type { OrderBooks } from "./order-books.js";

const purposeSchema = z.strictObject({ units: z.record(z.string().min(1), z.number().int().min(1)) });

/**
 * Writes down what a refund by hand was for, as a person says: so many units of these lines, or nothing that was sold, such
 * as a gesture. Units count as refunded from then on, whichever way they come back.
 *
 * @param purpose `{ units: { [line]: count } }`; no units for a gesture
 * @param actor who says so
 * @throws {MedusaError} if the refund isn't one that waits for this, or the order hasn't so many units left
 */
export async function explainRefund(
  container: MedusaContainer,
  { orderId, refundId }: { readonly orderId: string; readonly refundId: string },
  purpose: unknown,
  actor: string,
): Promise<void> {
  const { success, data } = purposeSchema.safeParse(purpose);
  if (!success)
    throw refusal("Say what it was for: { units: { [line id]: count } }, or no units for a gesture.");
  await withOrder(container, orderId, async (books) => {
    const refund = books.unexplained.find((one) => one.refundId === refundId);
    if (!refund) throw refusal("This refund doesn't wait for an explanation.");
    const units = unitsBackWith(books, data.units);
    const { beyondCents } = refund;
    await writePurpose(contextOf(container).sql, { refundId, orderId, units, beyondCents, actor });
  });
}

/** How many units of each named line are back with these; null for none. */
function unitsBackWith(
  { items, back }: OrderBooks,
  named: Record<string, number>,
): Record<string, number> | null {
  const units = Object.entries(named).map(([id, count]): [string, number] => {
    const item = items.find((one) => one.id === id);
    if (!item) throw refusal(`The order has no line ${id}.`);
    const backCount = back.get(id) ?? 0;
    if (count > item.sold - backCount)
      throw refusal(
        `Of "${item.title}" ${item.sold - backCount} are left that weren't refunded, and not ${count}.`,
      );
    return [id, backCount + count];
  });
  return units.length > 0 ? Object.fromEntries(units) : null;
}

const refusal = (message: string) =>
  new MedusaError(MedusaError.Types.NOT_ALLOWED, `${message} Nothing was written down.`, "invalid_request");
