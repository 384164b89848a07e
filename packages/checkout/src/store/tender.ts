import type { Cents } from "@giftcard-pay/client";

/**
 * `quoted`: the balance was shown. `applied`: the card will be charged at completion. `charging`: a charge of it is open,
 * without an order yet. `spent`: an order was paid with it. `removed`: the shopper removed it.
 */
export type TenderState = "quoted" | "applied" | "charging" | "spent" | "removed";

/** The card is on its cart, and has one of its places. */
export const onCartStates: readonly TenderState[] = ["applied", "charging"];

/** A gift card on a cart. By itself, it takes no money. */
export interface Tender {
  readonly id: string;
  readonly cartId: string;
  readonly state: TenderState;
  readonly lastFour: string;
  /** The balance when the card was quoted. */
  readonly balanceCents: Cents;
  /** yyyy-mm-dd, or empty if the service gives none. */
  readonly expiryDate: string;
  /** Card number and PIN, sealed for this cart; null once it has expired. */
  readonly sealedCard: string | null;
  /** Whether the sealed card must not be used any more, by the journal's clock. */
  readonly expired: boolean;
  readonly createdAt: Date;
}

/** A tender to add. */
export interface NewTender {
  readonly id: string;
  readonly cartId: string;
  readonly lastFour: string;
  /** A keyed hash of the card number; unique on a cart. */
  readonly fingerprint: string;
  readonly balanceCents: Cents;
  /** yyyy-mm-dd, or empty if the service gives none. */
  readonly expiryDate: string;
  readonly sealedCard: string;
}
