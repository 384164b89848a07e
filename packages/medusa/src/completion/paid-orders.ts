import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { Charge } from "@giftcard-pay/checkout/store";
import type { GiftcardContext } from "../context/context.js";
import { type OrderPayment, readOrderPayment, readOrderPayments } from "../medusa-tables/order-payment.js";
import { notePaid, orderWithPayment } from "../medusa-tables/orders.js";

/**
 * Tells whether the order was ever paid, according to our record, or to its payments now.
 * @param mayBePending whether a promise to pay later counts
 */
export function wasPaid(payment: OrderPayment, mayBePending: boolean): boolean {
  if (payment.paidAt !== null) return true;
  if (payment.totalCents === null) return false;
  return payment.paidCents + (mayBePending ? payment.pendingCents : 0) >= payment.totalCents;
}

export async function noteIfPaid(sql: Sql, orderIds: readonly string[]): Promise<void> {
  for (const payment of await readOrderPayments(sql, orderIds)) {
    if (payment.paidAt === null && wasPaid(payment, false)) await notePaid(sql, payment);
  }
}

/**
 * Finds the order that was placed and fully paid with this charge, or null. A completion that died after its last
 * payment leaves such an order. A completion that died earlier leaves an unpaid one.
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

/** Settles a cart's open charges like recovery. A charge whose order is placed and fully paid is committed to it. */
export function settleCart({ engine, sql, settings }: GiftcardContext, cartId: string): Promise<void> {
  return engine.recoverCart(cartId, {
    orderOf: (charge) => paidOrderOf(sql, charge, settings.allowPromisedRemainder),
  });
}
