import type { MedusaContainer } from "@medusajs/framework/types";
import { withCartLock, withOrderLease } from "../cart/cart-turn.js";
import { voidCompletion } from "../completion/void.js";
import { contextOf } from "../context/context.js";
import type { ChargedCanceled, OrderlessCharge } from "../medusa-tables/charged-orders.js";
import { readPaymentStanding } from "../medusa-tables/payments.js";
import type { CanceledPayment } from "../medusa-tables/stray-payments.js";
import { releaseGiftcardPayment, releasePayment, unknownRefund } from "./release-payment.js";

/**
 * Reverses a charge as canceling its order should have: first the card, then Medusa's payment, while nobody else changes the
 * order. The card is reversed even if Medusa refuses. Idempotent.
 * @throws the error of Medusa's payment
 */
export const reverseCanceled = (
  container: MedusaContainer,
  { reference, orderId, paymentId }: ChargedCanceled,
): Promise<void> =>
  withOrderLease(container, orderId, async () => {
    const { engine, sql } = contextOf(container);
    const { state } = await engine.reverse(reference, "canceled");
    // A charge that needs a person's decision isn't reversed yet.
    if (state !== "reversing" && state !== "reversed") return;
    const payment = await readPaymentStanding(sql, paymentId);
    if (!payment || payment.isCanceled || payment.isRefunded) return;
    await releaseGiftcardPayment(container, { paymentId, capturedLeft: payment.capturedLeft });
  });

/**
 * Cancels what another method still holds of a canceled order. If that method took money, Medusa asked it for a refund
 * when the order was canceled, and got no answer, or a refusal. A person has to look first.
 * @throws the payment method's error; unknownRefund if nobody has looked
 */
export async function releaseCanceled(
  container: MedusaContainer,
  { paymentId, cartId }: CanceledPayment,
  isAsked: boolean,
): Promise<void> {
  const { sql } = contextOf(container);
  await withCartLock(container, cartId, async () => {
    const payment = await readPaymentStanding(sql, paymentId);
    if (!payment || payment.isCanceled || payment.isRefunded) return;
    if (payment.capturedLeft !== null && !isAsked) throw unknownRefund();
    await releasePayment(container, { paymentId, cartId, ...payment }, isAsked);
  });
}

/**
 * Voids the charges of a deleted order as its completion should have: the card is reversed and applied to the cart again,
 * then the payment and its session are deleted. Idempotent.
 * @throws if the journal can't be written, or another job has the cart for too long
 */
export async function voidOrderless(container: MedusaContainer, { cartId, sessionId }: OrderlessCharge): Promise<void> {
  const { engine } = contextOf(container);
  await withCartLock(container, cartId, async () => {
    const charges = await engine.journal.chargesOfPayment(sessionId);
    // Before the payment is deleted: if voiding fails, the next run must find the payment again.
    for (const { reference } of charges) await engine.void(reference, { orderIsGone: true });
    const record = { cartId, orderId: null, references: [], sessionIds: [sessionId], remainderSessionId: null };
    await voidCompletion(record, { container });
  });
}
