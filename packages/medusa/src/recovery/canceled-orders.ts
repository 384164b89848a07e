import { randomUUID } from "node:crypto";
import type { ChargeState, Journal } from "@giftcard-pay/checkout/store";
import type { MedusaContainer } from "@medusajs/framework/types";
import { withCartLock } from "../cart/cart-turn.js";
import { voidCompletion } from "../completion/void.js";
import { contextOf } from "../context/context.js";
import type { ChargedCanceled, OrderlessCharge } from "../medusa-tables/charged-orders.js";
import { readPaymentStanding } from "../medusa-tables/payments.js";
import type { CanceledPayment } from "../medusa-tables/stray-payments.js";
import { releaseGiftcardPayment, releasePayment, unknownRefund } from "./release-payment.js";

/**
 * Reverses a charge as canceling its order should have: first the card, then Medusa's payment. The card is reversed
 * even if Medusa refuses. Idempotent.
 * @param holdMs how long other processes leave the charge to this process
 * @throws the error of Medusa's payment
 */
export async function reverseCanceled(
  container: MedusaContainer,
  charge: ChargedCanceled,
  holdMs: number,
): Promise<void> {
  const { engine, sql } = contextOf(container);
  const { reference, paymentId } = charge;
  let { state } = charge;
  const oweReversal = async () => {
    state = (await engine.reverse(reference, "canceled")).state;
  };
  // The reversal ends the hold. The payment is read again, since another process may work on it from then on.
  if (!(await withHold(engine.journal, charge, holdMs, oweReversal))) return;
  // A charge that needs a person's decision isn't reversed yet.
  if (state !== "reversing" && state !== "reversed") return;
  await withHold(engine.journal, { reference, state }, holdMs, async () => {
    const payment = await readPaymentStanding(sql, paymentId);
    if (!payment || payment.isCanceled || payment.isRefunded) return;
    await releaseGiftcardPayment(container, { paymentId, capturedLeft: payment.capturedLeft });
  });
}

/**
 * Holds a charge while its payment in Medusa is updated, so that two processes don't both do it.
 * @param holdMs how long other processes wait if this process dies
 * @returns false if another process holds it, or its state has changed: nothing was done
 */
async function withHold(
  journal: Journal,
  { reference, state }: { readonly reference: string; readonly state: string },
  holdMs: number,
  job: () => Promise<unknown>,
): Promise<boolean> {
  const owner = `recovery_${randomUUID()}`;
  if (!(await journal.claim(reference, { owner, forMs: holdMs }, [state as ChargeState]))) return false;
  try {
    await job();
  } finally {
    // If the job failed, the next run retries it. Meanwhile the charge must not look as if it was moving.
    await journal.release(reference, owner).catch(() => {});
  }
  return true;
}

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
