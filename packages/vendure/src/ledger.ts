import type { PaymentQuery, ShopPayment } from "@giftcard-pay/checkout/operator";
import { Payment, type TransactionalConnection } from "@vendure/core";
import { And, In, LessThan, MoreThanOrEqual } from "typeorm";
import { heldCents, liveStates } from "./money.js";

const PAGE_SIZE = 500;

/**
 * Lists the gift card payments that Vendure has made in a period, or those of orders. An order has at most one that holds money.
 *
 * @param method the code of the gift cards' payment method
 */
export async function* cardPayments(
  { rawConnection }: TransactionalConnection,
  method: string,
  { from, to, orderIds }: PaymentQuery,
): AsyncGenerator<ShopPayment> {
  const state = In(liveStates);
  const where =
    orderIds.length > 0
      ? { method, state, order: { code: In([...orderIds]) } }
      : { method, state, createdAt: And(MoreThanOrEqual(from), LessThan(to)) };
  const payments = rawConnection.getRepository(Payment);
  for (let skip = 0; ; skip += PAGE_SIZE) {
    const paged = { relations: ["order", "refunds"], order: { id: "ASC" as const }, take: PAGE_SIZE, skip };
    const page = await payments.find({ where, ...paged });
    for (const payment of page) {
      const { order, amount } = payment;
      yield { orderId: order.code, amountCents: amount, refundedCents: amount - heldCents(payment) };
    }
    if (page.length < PAGE_SIZE) return;
  }
}
