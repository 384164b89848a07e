import type { Cents } from "@giftcard-pay/client";

/**
 * `quoted`: balance shown. `applied`: will be charged at completion. `charging`: a charge of it lives, and no order has it.
 * `spent`: an order took it. `removed`: by the shopper.
 */
export type TenderState = "quoted" | "applied" | "charging" | "spent" | "removed";

/** A gift card on a cart. Nothing is deducted because of it. */
export interface Tender {
  readonly id: string;
  readonly cartId: string;
  readonly state: TenderState;
  readonly lastFour: string;
  /** The balance when the card was quoted. */
  readonly balanceCents: Cents;
  /** Card number and PIN, sealed for this cart; null once its time has run out. */
  readonly sealedCard: string | null;
  /** Judged by the journal's clock: the sealed card must not be used any more. */
  readonly expired: boolean;
  readonly createdAt: Date;
}

/** A new tender. */
export interface NewTender {
  readonly id: string;
  readonly cartId: string;
  readonly lastFour: string;
  /** A keyed hash of the number: a cart holds it once. */
  readonly fingerprint: string;
  readonly balanceCents: Cents;
  readonly sealedCard: string;
}
