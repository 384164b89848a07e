import type { Cents } from "@giftcard-pay/client";
import type { Piece } from "./order-line.js";

/**
 * - `intent`: recorded, not sent
 * - `sent`: the devalue was sent
 * - `devalued`: the money was taken, and the token is stored
 * - `committed`: assigned to an order
 * - `captured`: the order is paid
 * - `reversing`: a reversal is owed
 * - `reversed`: the money is back on the card
 * - `refused`: nothing was taken
 * - `unknown`: the outcome is not known yet
 * - `needs_attention`: a person has to decide
 * - `taken`: a person has decided that the money was taken, and that this shop will not reverse it
 */
export type ChargeState =
  | "intent"
  | "sent"
  | "devalued"
  | "committed"
  | "captured"
  | "reversing"
  | "reversed"
  | "refused"
  | "unknown"
  | "needs_attention"
  | "taken";

/**
 * The part of an order, or of some of its lines, that one devalue pays; it is sent at most once. A card's payment of an
 * order is one charge, or several that were begun together.
 */
export interface Charge {
  /** The charge's id, and the devalue's Idempotency-Key. */
  readonly reference: string;
  readonly tenderId: string;
  readonly cartId: string;
  /** The shop's own id of the payment (in Medusa, the payment session); the same for all its charges. */
  readonly externalId: string;
  /** The attempt of a purchase that made it; null in Medusa, which has no purchases. */
  readonly attemptId: string | null;
  /** The charge's position within its payment, in sending order: 1, 2, and so on. */
  readonly position: number;
  /** The units of the order's lines that it pays for; null if the card was charged as a whole. */
  readonly pieces: readonly Piece[] | null;
  /** The shop's order: from the beginning if the shop knows it then, otherwise once the charge is committed. */
  readonly orderId: string | null;
  /** The service that got the devalue. Reversal and recovery call no other. */
  readonly environment: string;
  readonly baseUrl: string;
  readonly companyId: number;
  readonly state: ChargeState;
  /** When it reached this state. */
  readonly stateChangedAt: Date;
  readonly lastFour: string;
  /** The requested amount. A charge that takes less is reversed at once. */
  readonly amountCents: Cents;
  readonly deductedCents: Cents | null;
  readonly sealedCard: string | null;
  readonly sealedToken: string | null;
  /** The reason for its refusal, reversal, or need of a decision: a code, never an external message. */
  readonly reason: string | null;
  /** The shop's own id of the refund that reversed it, or null. */
  readonly refundId: string | null;
  /** Evidence for a person's decision: the balance at the quote, and a balance read afterwards. */
  readonly balanceBeforeCents: Cents;
  readonly balanceAfterCents: Cents | null;
  readonly balanceAfterAt: Date | null;
  readonly leaseOwner: string | null;
  /** Until then, by the journal's clock, only its owner works on it. */
  readonly leaseUntil: Date | null;
  /** How often settling it has failed. */
  readonly tries: number;
  /** The error code of the last failed attempt to settle it. null if there was none since its last change of state. */
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly devaluedAt: Date | null;
  readonly reversedAt: Date | null;
}

/** A card's payment to begin. */
export interface NewPayment {
  readonly tenderId: string;
  readonly cartId: string;
  readonly externalId: string;
  /** The attempt of the purchase that it belongs to, if there is one. */
  readonly attemptId?: string | undefined;
  /** If the shop knows it already. */
  readonly orderId?: string | undefined;
  readonly environment: string;
  readonly baseUrl: string;
  readonly companyId: number;
  /** `sent` if its only charge is sent next. Default: `intent`. */
  readonly state?: "intent" | "sent" | undefined;
  /** At least one, in sending order. */
  readonly charges: readonly NewCharge[];
}

/** A charge to begin, with the card sealed for its reference. */
export interface NewCharge {
  readonly reference: string;
  readonly amountCents: Cents;
  readonly sealedCard: string;
  /** If the card is charged by line. */
  readonly pieces?: readonly Piece[] | undefined;
}

/** A change of state, made only if the charge is in one of `from` (and leased to `owner`, if given). */
export interface Move {
  readonly from: readonly ChargeState[];
  readonly to: ChargeState;
  /** Requires that this owner holds the lease. */
  readonly owner?: string;
  /** `null` clears it. */
  readonly orderId?: string | null;
  readonly deductedCents?: Cents;
  /** `null` deletes it. */
  readonly sealedCard?: null;
  readonly sealedToken?: string;
  readonly reason?: string;
  readonly refundId?: string;
  /** Requires that the charge has this refund, or none if null. */
  readonly refundIdWas?: string | null;
  readonly balanceAfterCents?: Cents;
  /** Takes or renews the lease; null releases it. Default: unchanged. */
  readonly lease?: { readonly owner: string; readonly forMs: number } | null;
  /** Delays the next attempt of recovery. */
  readonly retryInMs?: number;
  /** The error code of a failed attempt, which is counted. Default: a change of state clears it. */
  readonly lastError?: string;
  /**
   * Puts a spent tender back on the cart: as `charging` while the charge is open, as `applied` once it is settled. The tender
   * stays spent if the same card or `maxCards` others are on the cart by now, if a later charge used it, or if its sealed
   * card was deleted before it expired.
   */
  readonly restore?: { readonly maxCards: number };
}

/** A person's decision about a charge. */
export type Action = "retry" | "mark_taken" | "mark_not_taken";

/** The permanent record of a person's decision. */
export interface ActionRecord {
  readonly reference: string;
  readonly action: Action;
  /** The shop's own name or id of the person. */
  readonly actor: string;
  readonly fromState: ChargeState;
  readonly toState: ChargeState;
  readonly createdAt: Date;
}

/** A filter of charges. Every field is optional. */
export interface ChargeFilter {
  readonly states?: readonly ChargeState[];
  /** Of these orders; at most some hundreds. */
  readonly orderIds?: readonly string[];
  /** Of these payments, by the shop's own ids; at most some hundreds. */
  readonly externalIds?: readonly string[];
  /** Created at or after. */
  readonly from?: Date;
  /** Created before. */
  readonly to?: Date;
  /** Took or returned money at or after `from`, and before `to`. */
  readonly moved?: { readonly from: Date; readonly to: Date };
  readonly environment?: string;
  readonly companyId?: number;
  /** Fulfils at least one of these conditions. */
  readonly anyOf?: ChargeMatch;
}

/** A search. A charge is found if one of these fields matches; none is found without a field. */
export interface ChargeMatch {
  readonly reference?: string;
  readonly lastFour?: string;
  /** At most some hundreds. */
  readonly orderIds?: readonly string[];
  /** At most some hundreds. */
  readonly cartIds?: readonly string[];
  /** The amount of the charge, or of its card's whole payment. */
  readonly amountCents?: number;
}

/** A page of a list of charges. */
export interface ChargeListing extends ChargeFilter {
  /** Default 50. */
  readonly limit?: number;
  /** Default 0. */
  readonly offset?: number;
  /** Pages and counts whole payments: those with a charge that matches, with all of their charges. Default: false. */
  readonly byPayment?: boolean;
  /** By the time when they were created. Default: charges that need attention, then the newest. */
  readonly sort?: "newest" | "oldest";
}
