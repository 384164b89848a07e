import { setTimeout as sleep } from "node:timers/promises";
import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { capturePaymentWorkflow } from "@medusajs/medusa/core-flows";
import { withCartLock } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { findUncaptured } from "../medusa-tables/charged-orders.js";
import { type PlacedCart, scanOnly } from "../medusa-tables/scan.js";
import { readBegunCaptures } from "../medusa-tables/unrecorded-payments.js";

/**
 * Captures a payment by Medusa's own workflow. First it deletes a capture that was begun and never finished. A payment
 * method never captures more than was authorized, so asking it again takes no money twice. The caller has the order's lease.
 * @param payment `actor`: the id of the person who asked for it
 * @throws the error of Medusa or the payment method: nothing is captured, as far as Medusa knows
 */
export async function capturePayment(
  container: MedusaContainer,
  { paymentId, orderId, actor }: { paymentId: string; orderId: string; actor?: string | undefined },
): Promise<void> {
  const begun = await readBegunCaptures(contextOf(container).sql, { paymentId, orderId });
  if (begun.length > 0) await container.resolve(Modules.PAYMENT).deleteCaptures(begun);
  await capturePaymentWorkflow(container).run({
    input: { payment_id: paymentId, ...(actor !== undefined && { captured_by: actor }) },
  });
}

/**
 * Captures the cards of an order that are due. Idempotent. It takes the cart's turn and Medusa's lock on the cart. A webhook
 * that captures the remainder has the same lock. Without it, one of the two captures could overwrite the other's amount in
 * the order's summary.
 * @throws {CheckoutError} payment_in_progress if another job has the cart for too long
 * @throws the error of Medusa
 */
const captureCards = (container: MedusaContainer, { orderId, cartId }: PlacedCart): Promise<void> =>
  withCartLock(container, cartId, async () => {
    const { sql, settings } = contextOf(container);
    const [due] = await findUncaptured(scanOnly(sql, orderId, settings.capture));
    for (const paymentId of due?.paymentIds ?? []) await capturePayment(container, { paymentId, orderId });
  });

/** Captures the cards of an order in the background if they are due. If that fails, recovery retries it. */
export function captureSoon(container: MedusaContainer, order: PlacedCart): void {
  const { captures, logger, settings } = contextOf(container);
  if (settings.capture === "manual") return;
  captures.add(order.orderId, () =>
    captureCards(container, order).catch((error: unknown) => {
      if (error instanceof CheckoutError) return;
      logger.warn(`giftcard: the cards of order ${order.orderId} aren't captured yet: ${nameOf(error)}`);
    }),
  );
}

/**
 * Captures the cards of an order whose event was lost, such as by a crash, or whose remainder was paid later. It rests like
 * the queue of captures, since there may be thousands of such orders after an on-sale, or after a change of the option.
 * @returns "postponed" if the shop is busy, or this run of recovery has captured for long enough
 */
export async function captureMissed(
  container: MedusaContainer,
  order: PlacedCart,
  { captureUntil, isAsked = false }: { captureUntil?: number; isAsked?: boolean },
): Promise<"postponed" | undefined> {
  const beganAt = Date.now();
  const isLate = contextOf(container).captures.isBusy() || (captureUntil !== undefined && beganAt > captureUntil);
  if (isLate && !isAsked) return "postponed";
  await captureCards(container, order);
  if (!isAsked) await sleep(Date.now() - beganAt);
  return undefined;
}
