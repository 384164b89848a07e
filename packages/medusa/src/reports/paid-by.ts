import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import { readOrderPayment } from "../medusa-tables/order-payment.js";

/** What one gift card paid of an order, in whole cents. */
export interface PaidByCard {
  lastFour: string;
  amountCents: number;
  /** What went back to the card since the order was placed, or is owed to it. */
  refundedCents: number;
}

/** What another payment method paid of an order, in whole cents. */
export interface PaidByOther {
  /** Medusa's id of the payment provider, such as `pp_stripe_stripe`. */
  providerId: string;
  amountCents: number;
  /** What was refunded since the order was placed. */
  refundedCents: number;
}

/**
 * How an order was paid, in whole cents. A gift card is money: it lowers neither the order's total nor its tax.
 *
 * As the order is placed, the amounts sum to its total. The amounts less what was refunded are what the shop holds.
 */
export interface PaidBy {
  orderId: string;
  currency: "EUR";
  /** The order's total as Medusa shows it now: after an edit or a return, it is another one. */
  totalCents: number;
  /** In the order in which they were charged. */
  cards: PaidByCard[];
  /** In the order in which they were authorized. */
  others: PaidByOther[];
}

/**
 * How an order was paid: for a page, a mail or an invoice. A card is a payment of this plugin; any other payment is in
 * `others`. A payment is listed once it is authorized. One that was canceled isn't listed, nor is one that went back before
 * the order was placed, nor what a method has only promised to pay later.
 *
 * Each payment is in whole cents, rounded half up. Medusa may have a fraction of a cent in the total; then one payment
 * alone has it too, so the sum is right.
 *
 * It doesn't ask who reads: show it to the order's own customer alone.
 *
 * @param container Medusa's, or that of a request, a subscriber or a job
 * @param orderId Medusa's id of the order
 * @returns null where there is no such order, or where it isn't in euro: cards pay in euro only
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
