import type { MedusaContainer } from "@medusajs/framework/types";
import { withCartLock } from "../cart/cart-turn.js";
import { restoreSession, withdrawSession } from "../cart/sessions.js";
import { contextOf } from "../context/context.js";
import { readPaymentStanding, readSessionPayments } from "../medusa-tables/payments.js";
import { hadOrder, isOrderless, type StrayPayment } from "../medusa-tables/stray-payments.js";
import { beginRelease, endRelease, releasePayment } from "./release-payment.js";

/**
 * Releases a payment that no order has: the shopper gets the money back, and pays again. Its session is deleted first, so
 * that no completion can use it from then on, however long this process stalls.
 * @param isAsked a person wants it retried
 * @throws the payment method's error, or one if another job uses the cart for too long
 */
export async function releaseStray(
  container: MedusaContainer,
  { paymentId, sessionId, cartId }: StrayPayment,
  isAsked: boolean,
): Promise<void> {
  const { sql } = contextOf(container);
  await withCartLock(container, cartId, async () => {
    const isRefundBegun = await beginRelease(sql, paymentId, cartId);
    const isFree = () => isOrderless(sql, cartId);
    const sessions = sessionId === null || isRefundBegun ? [] : await readSessionPayments(sql, [sessionId]);
    for (const session of sessions) {
      const isGone = session.status === null;
      // Another process may have withdrawn this session from an order, then crashed before it restored the session.
      if (isGone && (await hadOrder(sql, cartId, session.id))) await restoreSession(container, session.id);
      else if (isGone || (await withdrawSession(container, session, isFree))) continue;
      return endRelease(sql, paymentId);
    }
    const standing = await readPaymentStanding(sql, paymentId);
    if (!standing || standing.isCanceled) return endRelease(sql, paymentId);
    await releasePayment(container, { paymentId, cartId, ...standing }, isAsked);
    const line = `giftcard cart=${cartId} payment=${paymentId} released: no order has it`;
    contextOf(container).logger.warn(line);
  });
}
