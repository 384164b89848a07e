/**
 * `undecided`: it isn't known whether money is off the card. `payment_missing`: money is off a card and the shop has no
 * payment for it. `charge_missing`: the shop has a payment of which the journal knows nothing. `held`: the two disagree
 * about what is off the card. `captured`: they disagree about whether the payment is final. `service`: the service has
 * other figures for a card.
 */
export type DifferenceKind =
  | "undecided"
  | "payment_missing"
  | "charge_missing"
  | "held"
  | "captured"
  | "service";

/** One difference, with both sides. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly reference: string | null;
  readonly orderId: string | null;
  readonly lastFour: string | null;
  /** What the journal says, in words and in cents; null where it has no figure. */
  readonly journal: { readonly says: string; readonly cents: number | null };
  /** What the shop's payments or the service say. */
  readonly other: {
    readonly who: "payments" | "service";
    readonly says: string;
    readonly cents: number | null;
  };
}
