import type { MedusaContainer } from "@medusajs/framework/types";
import { capturePayment } from "../capture/captures.js";
import { withLock } from "../cart/cart-turn.js";
import { notRefunded } from "../errors.js";
import { sentenceOf } from "../recovery/failing-jobs.js";
import { type OrderBooks, type PlannedCapture, readBooks } from "./order-books.js";

export const sumOfCaptures = (captures: readonly PlannedCapture[]): number =>
  captures.reduce((sum, { cents }) => sum + cents, 0);

/**
 * Captures everything of an order that isn't captured yet, before its refund. The caller has the order's lease.
 * @param actor the id of the person, for Medusa's captures
 * @returns the order's books afterwards. A draft order counts as placed with its first capture
 * @throws {MedusaError} if a payment can't be captured: nothing of the order may be refunded
 */
export async function captureFirst(container: MedusaContainer, books: OrderBooks, actor?: string): Promise<OrderBooks> {
  const { orderId, cartId, captures } = books;
  if (captures.length === 0) return books;
  const captureAll = async () => {
    for (const planned of captures)
      await capturePayment(container, { paymentId: planned.paymentId, orderId, actor }).catch((error: unknown) => {
        throw notCaptured(planned, error);
      });
  };
  await (cartId === null ? captureAll() : withLock(container, cartId, captureAll));
  return readBooks(container, orderId);
}

const notCaptured = ({ providerId, lastFour, cents }: PlannedCapture, error: unknown) =>
  notRefunded(
    lastFour === null
      ? { code: "notCaptured", values: { amountCents: cents, method: providerId, fault: sentenceOf(error) } }
      : { code: "cardNotCaptured", values: { amountCents: cents, card: lastFour, fault: sentenceOf(error) } },
    { code: "checkMethod" },
  );
