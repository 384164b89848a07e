/**
 * - `undecided`: it is unknown whether money was taken
 * - `payment_missing`: money was taken, and the shop has no payment for it
 * - `charge_missing`: the shop has a payment that is missing in the journal
 * - `held`: journal and shop disagree about the amount that was taken
 * - `captured`: they disagree about whether the payment is captured
 * - `service`: the service has other sums for a card
 */
export type DifferenceKind = "undecided" | "payment_missing" | "charge_missing" | "held" | "captured" | "service";

/** A difference, with both sides. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly reference: string | null;
  readonly orderId: string | null;
  readonly lastFour: string | null;
  /** The journal's side, in words and in cents; null if it has no amount. */
  readonly journal: { readonly says: string; readonly cents: number | null };
  /** The side of the shop's payments, or of the service. */
  readonly other: {
    readonly who: "payments" | "service";
    readonly says: string;
    readonly cents: number | null;
  };
}
