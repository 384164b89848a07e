import type { Cents } from "@giftcard-pay/client";
import type { Piece } from "./order-line.js";

/**
 * `intent`: written down, not sent. `sent`: on its way. `devalued`: taken, and the token is kept. `committed`: belongs
 * to an order. `captured`: the order is paid. `reversing`: a reversal is owed. `reversed`: the card is whole again.
 * `refused`: nothing was taken. `unknown`: it can't be told yet. `needs_attention`: a person must tell. `taken`: a person
 * told that the money is off the card, and that no reversal by this shop will bring it back.
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
 * What one card pays of one order, or of some of its lines: at most one devalue goes out for it, ever. A card's payment
 * of an order is one charge, or several that were begun together.
 */
export interface Charge {
  /** Ours; it is the devalue's Idempotency-Key. */
  readonly reference: string;
  readonly tenderId: string;
  readonly cartId: string;
  /** The shop's own id of the payment (Medusa: the payment session). All charges of a payment have it. */
  readonly externalId: string;
  /** Which of its payment's charges it is: 1, 2 and so on, as they are sent. */
  readonly position: number;
  /** Which units of the order's lines it pays; null where the card was charged as a whole. */
  readonly pieces: readonly Piece[] | null;
  /** The shop's order: from the beginning where the shop names it then, else once the charge is committed. */
  readonly orderId: string | null;
  /** Where the devalue went; reversal and recovery go nowhere else. */
  readonly environment: string;
  readonly baseUrl: string;
  readonly companyId: number;
  readonly state: ChargeState;
  readonly lastFour: string;
  /** What was asked for; a charge that takes less is reversed at once. */
  readonly amountCents: Cents;
  readonly deductedCents: Cents | null;
  readonly sealedCard: string | null;
  readonly sealedToken: string | null;
  /** Why it was refused, is being reversed, or needs a person: a code, never a message from outside. */
  readonly reason: string | null;
  /** The shop's own id of the refund that took it back; null where none did. */
  readonly refundId: string | null;
  /** Evidence where only a person can tell: the balance when quoted, and one read afterwards. */
  readonly balanceBeforeCents: Cents;
  readonly balanceAfterCents: Cents | null;
  readonly balanceAfterAt: Date | null;
  readonly leaseOwner: string | null;
  /** Until then, by the journal's clock, nobody but its owner touches it. */
  readonly leaseUntil: Date | null;
  /** How often ending it has failed. */
  readonly tries: number;
  /** Why the last try to end it failed: a code. null where it didn't, and once its state has changed. */
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly devaluedAt: Date | null;
  readonly reversedAt: Date | null;
}

/** A card's payment of an order, to begin. */
export interface NewPayment {
  readonly tenderId: string;
  readonly cartId: string;
  readonly externalId: string;
  /** Where the shop knows it already. */
  readonly orderId?: string | undefined;
  readonly environment: string;
  readonly baseUrl: string;
  readonly companyId: number;
  /** At least one, in the order in which they are sent. */
  readonly charges: readonly NewCharge[];
}

/** A charge to begin. The card is sealed for its reference. */
export interface NewCharge {
  readonly reference: string;
  readonly amountCents: Cents;
  readonly sealedCard: string;
  /** Where the card is charged by line. */
  readonly pieces?: readonly Piece[] | undefined;
}

/** A change of state: it happens only when the charge is in one of `from` (and, where given, leased to `owner`). */
export interface Move {
  readonly from: readonly ChargeState[];
  readonly to: ChargeState;
  /** Only while this owner holds the lease. */
  readonly owner?: string;
  /** `null` clears it. */
  readonly orderId?: string | null;
  readonly deductedCents?: Cents;
  /** `null` deletes it. */
  readonly sealedCard?: null;
  readonly sealedToken?: string;
  readonly reason?: string;
  readonly refundId?: string;
  /** Only while this refund, or none, has the charge. */
  readonly refundIdWas?: string | null;
  readonly balanceAfterCents?: Cents;
  /** Takes (or keeps) the lease for so long; null gives it up. Left out: unchanged. */
  readonly lease?: { readonly owner: string; readonly forMs: number } | null;
  /** Lets recovery come back no sooner than this. */
  readonly retryInMs?: number;
  /** Why ending it failed: a code. Counts a try. Left out: a change of state clears it. */
  readonly lastError?: string;
  /**
   * A tender that the charge had spent is the cart's again: `charging` while the charge lives, `applied` when it is
   * settled. It stays spent where the same card, or `maxCards` others, are on the cart by now, where another charge
   * followed, or where its card is gone before its time.
   */
  readonly restore?: { readonly maxCards: number };
}

/** What a person did about a charge. */
export type Action = "retry" | "mark_taken" | "mark_not_taken";

/** A person's action as it was written down, for good. */
export interface ActionRecord {
  readonly reference: string;
  readonly action: Action;
  /** Who: the shop's own name or id of the person. */
  readonly actor: string;
  readonly fromState: ChargeState;
  readonly toState: ChargeState;
  readonly createdAt: Date;
}

/** Which charges to read. What is left out doesn't matter. */
export interface ChargeFilter {
  readonly states?: readonly ChargeState[];
  /** Of one of these orders; some hundreds at the most. */
  readonly orderIds?: readonly string[];
  /** Of one of these payments, by the shop's own ids; some hundreds at the most. */
  readonly externalIds?: readonly string[];
  /** Created at or after. */
  readonly from?: Date;
  /** Created before. */
  readonly to?: Date;
  /** Took money, or gave it back, at or after the first moment and before the second. */
  readonly moved?: { readonly from: Date; readonly to: Date };
  readonly environment?: string;
  readonly companyId?: number;
}

/** One page of a list. */
export interface ChargeListing extends ChargeFilter {
  /** Default 50. */
  readonly limit?: number;
  /** Default 0. */
  readonly offset?: number;
}
