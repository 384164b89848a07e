import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import { withCartLock } from "../cart/cart-turn.js";
import { deleteSession } from "../cart/sessions.js";
import { contextOf } from "../context/context.js";
import { isOrderless, type OrderlessPayment } from "../medusa-tables/charged-orders.js";
import { readPaymentStanding, readSessionPayments } from "../medusa-tables/payments.js";

/**
 * Cancels a payment that no order has, or refunds what is captured of it, and deletes its session: the shopper gets the
 * money, and pays anew. Done twice it is done once.
 *
 * @throws what the payment method fails with, or where another job has the cart for too long
 */
export async function releaseOrderless(
  container: MedusaContainer,
  { paymentId, sessionId, cartId }: OrderlessPayment,
): Promise<void> {
  const { runSql: run } = contextOf(container);
  await withCartLock(container, cartId, async () => {
    if (!(await isOrderless(run, cartId))) return;
    const standing = await readPaymentStanding(run, paymentId);
    if (!standing || standing.isCanceled) return;
    if (Number(standing.capturedLeft) > 0) {
      const amount = standing.capturedLeft as never;
      await container.resolve(Modules.PAYMENT).refundPayment({ payment_id: paymentId, amount });
    }
    for (const session of await readSessionPayments(run, [sessionId]))
      await deleteSession(container, session);
    container
      .resolve(ContainerRegistrationKeys.LOGGER)
      .warn(`giftcard cart=${cartId} payment=${paymentId} released: the cart never became an order`);
  });
}
