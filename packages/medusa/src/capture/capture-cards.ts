import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { withCartLock } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { type PlacedCart, scanOnly } from "../medusa-tables/scan.js";
import { findUncaptured, type UncapturedOrder } from "../medusa-tables/uncaptured-orders.js";
import { capturePayment } from "./capture-payment.js";

/** Finds the order's cards that are due to be captured; null if there is none. */
async function findDue(container: MedusaContainer, orderId: string): Promise<UncapturedOrder | null> {
  const { sql, settings } = contextOf(container);
  const [due] = await findUncaptured(scanOnly(sql, orderId, settings.capture));
  return due ?? null;
}

/**
 * Captures the cards of an order that are due, by Medusa's own workflow. Idempotent. It takes the cart's turn and Medusa's lock
 * on the cart. A webhook that captures the remainder has the same lock. Without it, one of the two captures could overwrite the
 * other's amount in the order's summary.
 * @throws {CheckoutError} payment_in_progress if another job has the cart for too long
 * @throws the error of Medusa
 */
export const captureCards = (container: MedusaContainer, { orderId, cartId }: PlacedCart): Promise<void> =>
  withCartLock(container, cartId, async () => {
    // It may have been canceled or captured since it was found.
    const due = await findDue(container, orderId);
    for (const paymentId of due?.paymentIds ?? []) await capturePayment(container, { paymentId, orderId });
  });

/** Captures the cards of an order in the background if they are due. If that fails, recovery retries it. */
export async function captureSoon(container: MedusaContainer, orderId: string): Promise<void> {
  const { captures, logger } = contextOf(container);
  const due = await findDue(container, orderId);
  if (!due) return;
  captures.add(orderId, () =>
    captureCards(container, due).catch((error: unknown) => {
      if (error instanceof CheckoutError) return;
      logger.warn(`giftcard: the cards of order ${orderId} aren't captured yet: ${nameOf(error)}`);
    }),
  );
}
