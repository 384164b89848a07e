import type { ChargeState } from "../store/charge.js";

/**
 * - `undecided`: it is unknown whether money was taken
 * - `payment_missing`: money was taken, and the shop has no payment for it
 * - `charge_missing`: the shop has a payment that is missing in the journal
 * - `held`: journal and shop disagree about the amount that was taken
 * - `captured`: they disagree about whether the payment is captured
 * - `service`: the service has other sums for a card
 */
export type DifferenceKind = "undecided" | "payment_missing" | "charge_missing" | "held" | "captured" | "service";

/** The state of a payment in the shop's own books. `paid` if the shop doesn't say whether it is captured. */
export type PaymentState = "paid" | "authorized" | "captured" | "partly_refunded" | "refunded" | "canceled";

/** The sums of a card in a period. */
export interface CardSums {
  readonly chargedCents: number;
  /** Put back on the card. */
  readonly canceledCents: number;
}

/** A difference, with both sides. A page in another language shows `states`, `payments` and `sums` instead of `says`. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly reference: string | null;
  readonly orderId: string | null;
  readonly lastFour: string | null;
  /** The journal's side, in words and in cents; null if it has no amount. */
  readonly journal: {
    readonly says: string;
    readonly cents: number | null;
    /** The states of its charges, unless the kind is `service`. */
    readonly states?: readonly ChargeState[];
    /** Only of the kind `service`. */
    readonly sums?: CardSums;
  };
  /** The side of the shop's payments, or of the service. */
  readonly other: {
    readonly who: "payments" | "service";
    readonly says: string;
    readonly cents: number | null;
    /** The shop's payments, by their ids or orders. */
    readonly payments?: readonly { readonly name: string; readonly state: PaymentState }[];
    /** Only of the kind `service`. */
    readonly sums?: CardSums;
  };
}
