import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { withCartLock } from "../cart/cart-turn.js";
import { putBackSession, withdrawSession } from "../cart/sessions.js";
import { contextOf } from "../context/context.js";
import { readPaymentStanding, readSessionPayments } from "../medusa-tables/payments.js";
import { hadOrder, isOrderless, type StrayPayment } from "../medusa-tables/stray-payments.js";
import { beginRelease, endRelease, releasePayment } from "./release-payment.js";

/**
 * Gives up a payment that no order has: the shopper gets the money, and pays anew. Its session goes first, so that no
 * completion can use it from then on, however long this process stands still.
 *
 * @param isAsked a person wants it tried again
 * @throws what the payment method fails with, or where another job has the cart for too long
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
    for (const session of await readSessionPayments(sql, [sessionId])) {
      if (isRefundBegun) continue;
      const isGone = session.status === null;
      // A process that took it from an order may have died, or stand still, before it put it back.
      if (isGone && (await hadOrder(sql, cartId, sessionId))) await putBackSession(container, sessionId);
      else if (isGone || (await withdrawSession(container, session, isFree))) continue;
      return endRelease(sql, paymentId);
    }
    const standing = await readPaymentStanding(sql, paymentId);
    if (!standing || standing.isCanceled) return endRelease(sql, paymentId);
    await releasePayment(container, { paymentId, cartId, ...standing }, isAsked);
    const line = `giftcard cart=${cartId} payment=${paymentId} released: no order has it`;
    container.resolve(ContainerRegistrationKeys.LOGGER).warn(line);
  });
}
