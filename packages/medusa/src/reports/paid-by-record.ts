import type { PaidPart } from "../medusa-tables/order-payment.js";

/** One gift card's payment for an order, in whole cents. */
export interface PaidByCard {
  lastFour: string;
  amountCents: number;
  /** The amount refunded to the card since the order was placed, or still owed to it. */
  refundedCents: number;
}

/** Another method's payment for an order, in whole cents. */
export interface PaidByOther {
  /** Medusa's id of the payment provider, such as `pp_stripe_stripe`. */
  providerId: string;
  amountCents: number;
  /** The amount refunded since the order was placed. */
  refundedCents: number;
}

/**
 * How an order was paid, in whole cents. A gift card is a means of payment: it changes neither the order's total nor
 * its tax.
 *
 * When the order is placed, the amounts add up to its total. The amounts minus the refunds are what the shop holds.
 */
export interface PaidBy {
  orderId: string;
  currency: "EUR";
  /** The order's current total in Medusa, which edits and returns change. */
  totalCents: number;
  /** In the order in which they were charged. */
  cards: PaidByCard[];
  /** In the order in which they were authorized. */
  others: PaidByOther[];
}

/** Separates gift cards from other payments. */
export const splitPaid = (paid: readonly PaidPart[]): Pick<PaidBy, "cards" | "others"> => ({
  cards: paid.flatMap(({ lastFour, amountCents, refundedCents }) =>
    lastFour === null ? [] : [{ lastFour, amountCents, refundedCents }],
  ),
  others: paid.flatMap(({ providerId, lastFour, amountCents, refundedCents }) =>
    lastFour === null ? [{ providerId, amountCents, refundedCents }] : [],
  ),
});
