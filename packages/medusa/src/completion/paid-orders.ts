import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { Charge } from "@giftcard-pay/checkout/store";
import type { GiftcardContext } from "../context/context.js";
import { type OrderPayment, readOrderPayment, readOrderPayments } from "../medusa-tables/order-payment.js";
import { notePaid, orderWithPayment } from "../medusa-tables/orders.js";

/**
 * Whether the order was paid at any time, by what is written down or by what stands there now.
 *
 * @param mayBePending whether a promise to pay later counts
 */
export function wasPaid(payment: OrderPayment, mayBePending: boolean): boolean {
  if (payment.paidAt !== null) return true;
  if (payment.totalCents === null) return false;
  return payment.paidCents + (mayBePending ? payment.pendingCents : 0) >= payment.totalCents;
}

/** Writes down which of these orders are paid by now. */
export async function noteIfPaid(sql: Sql, orderIds: readonly string[]): Promise<void> {
  for (const payment of await readOrderPayments(sql, orderIds)) {
    if (payment.paidAt === null && wasPaid(payment, false)) await notePaid(sql, payment);
  }
}

/**
 * The order that was placed and fully paid with this charge, or null: what a completion that died after its last payment
 * leaves behind. A completion that died before that left an order that nobody paid.
 *
 * @param mayBePending whether another method may promise to pay later beside cards
 */
export async function paidOrderOf(
  sql: Sql,
  { cartId, externalId }: Pick<Charge, "cartId" | "externalId">,
  mayBePending: boolean,
): Promise<string | null> {
  const orderId = await orderWithPayment(sql, cartId, externalId);
  const payment = orderId === null ? null : await readOrderPayment(sql, orderId);
  return payment && !payment.isCanceled && wasPaid(payment, mayBePending) ? payment.orderId : null;
}

/** Ends what is open of a cart's charges, as recovery does: one whose order is placed and fully paid is that order's. */
export function settleCart({ engine, sql, settings }: GiftcardContext, cartId: string): Promise<void> {
  return engine.settle(cartId, {
    orderOf: (charge) => paidOrderOf(sql, charge, settings.allowPendingRemainder),
  });
}
