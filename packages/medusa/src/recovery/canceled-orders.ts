import type { MedusaContainer } from "@medusajs/framework/types";
import { withCartLock } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import type { ChargedCanceled } from "../medusa-tables/charged-orders.js";
import { readPaymentStanding } from "../medusa-tables/payments.js";
import type { CanceledPayment } from "../medusa-tables/stray-payments.js";
import { withHold } from "./hold.js";
import { releaseGiftcardPayment, releasePayment, unknownRefund } from "./release-payment.js";

/**
 * Reverses the charge as the canceled order should have: the card first, then Medusa's payment. So whatever Medusa
 * refuses, the card gets its money. Done twice it is done once.
 *
 * @param holdMs how long no other process does the same
 * @throws what Medusa's payment fails with
 */
export async function reverseCanceled(
  container: MedusaContainer,
  charge: ChargedCanceled,
  holdMs: number,
): Promise<void> {
  const { engine, sql } = contextOf(container);
  const { reference, paymentId } = charge;
  let { state } = charge;
  const owe = async () => {
    state = (await engine.reverse(reference, "canceled")).state;
  };
  // The reversal ends the hold; the payment is read anew, since another process may find it as it stands then.
  if (!(await withHold(engine.journal, charge, holdMs, owe))) return;
  // What only a person can tell isn't reversed yet.
  if (state !== "reversing" && state !== "reversed") return;
  await withHold(engine.journal, { reference, state }, holdMs, async () => {
    const payment = await readPaymentStanding(sql, paymentId);
    if (!payment || payment.isCanceled || payment.isRefunded) return;
    await releaseGiftcardPayment(container, { paymentId, capturedLeft: payment.capturedLeft });
  });
}

/**
 * Cancels what another method still holds of a canceled order. What it took, Medusa has asked it to refund when the order
 * was canceled, and got no answer, or a refusal: so a person looks first.
 *
 * @param isAsked a person has looked
 * @throws what the payment method fails with; unknownRefund where nobody has looked
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
