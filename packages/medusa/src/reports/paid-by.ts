import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import { readOrderPayment } from "../medusa-tables/order-payment.js";
import type { PaidBy } from "./paid-by-block.js";

export {
  type PaidBy,
  type PaidByCard,
  type PaidByOptions,
  type PaidByOther,
  type RenderedPaidBy,
  renderPaidBy,
} from "./paid-by-block.js";

/**
 * Reads how an order was paid, for a page, a mail or an invoice. `cards` are payments of this plugin; `others` are
 * all other payments. A payment is listed once it is authorized. Canceled payments, payments that were refunded
 * before the order was placed, and promises to pay later are not listed.
 *
 * Each payment is in whole cents, rounded half up. If Medusa's total has a fraction of a cent, only one payment has
 * it too, so the sum is right.
 *
 * It doesn't check who reads it: show it only to the order's own customer.
 * @param container the container of Medusa, a request, a subscriber or a job
 * @param orderId Medusa's id of the order
 * @returns null if there is no such order, or if it isn't in euro: cards pay in euro only
 */
export async function readPaidBy(container: MedusaContainer, orderId: string): Promise<PaidBy | null> {
  const order = await readOrderPayment(contextOf(container).sql, orderId);
  if (order?.currency !== "eur") return null;
  const { paid, currentTotalCents, totalCents } = order;
  return {
    orderId,
    currency: "EUR",
    totalCents: currentTotalCents ?? totalCents ?? 0,
    cards: paid.flatMap(({ lastFour, amountCents, refundedCents }) =>
      lastFour === null ? [] : [{ lastFour, amountCents, refundedCents }],
    ),
    others: paid.flatMap(({ providerId, lastFour, amountCents, refundedCents }) =>
      lastFour === null ? [{ providerId, amountCents, refundedCents }] : [],
    ),
  };
}
