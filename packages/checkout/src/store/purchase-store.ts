import { type Cents, cents } from "@giftcard-pay/client";
import type { Journal } from "./journal.js";
import type { OrderLine } from "./order-line.js";
import type { PurchaseState } from "./purchase-states.js";

/** An attempt to pay an order, with what it pays for. */
export interface Attempt {
  /** The attempt's own id. It owns the leases of its charges while it makes them. */
  readonly attemptId: string;
  readonly cartId: string;
  readonly totalCents: Cents;
  /** Of all its amounts; ISO 4217. */
  readonly currency: string;
  /** The part that the remainder method pays. */
  readonly remainderCents: Cents;
  /** The person who has recorded that the remainder is settled elsewhere: the method isn't asked to return it any more. */
  readonly remainderSettledBy: string | null;
}

/** The payment of an order, in its newest attempt. */
export interface Purchase extends Attempt {
  readonly orderId: string;
  /** The failed attempts that this one has replaced, the oldest first. */
  readonly earlierAttempts: readonly Attempt[];
  readonly state: PurchaseState;
  /** The amounts as the shopper was shown them; see `CartSummary.plan`. */
  readonly plan: string;
  /** The shop's data of a pending remainder, such as the address of a bank's page. JSON. */
  readonly remainderData: string | null;
  /** The order's lines as they were paid; null if the shop gave none. */
  readonly lines: readonly OrderLine[] | null;
  /** How often the next step has failed. */
  readonly tries: number;
  /** The step that failed last and a code, such as `cancel:ECONNREFUSED`; never an external message. */
  readonly lastError: string | null;
  /** The person who has last retried it. */
  readonly lastActor: string | null;
  /** When this attempt began. */
  readonly createdAt: Date;
}

/**
 * How a refund is split, as far as charges can be chosen:
 * - `as-paid`: each returned unit is refunded the way it was paid, to the cent. Without units, in proportion
 * - `cards-first`: as much as possible to the cards
 * - `remainder-first`: as much as possible by the remainder method
 * - `in-proportion`: to the cards in proportion to their share of what can still be refunded
 */
export type RefundRule = (typeof refundRules)[number];
/** Every rule, the default first. */
export const refundRules = ["as-paid", "cards-first", "remainder-first", "in-proportion"] as const;

/** The lease of a purchase. */
export interface PurchaseLease {
  readonly owner: string;
  readonly forMs: number;
}

/** A refund to record, before any of it is made. */
export interface NewRefund {
  /** The shop's own id; unique within the order. */
  readonly id: string;
  /** The refund's sequence number within its order. Only one of two concurrently planned refunds can take a number. */
  readonly number: number;
  /** The rule of its split. */
  readonly rule: RefundRule;
  /** The number of returned units of each line, by the line's id; null if an amount is refunded. */
  readonly lines: Readonly<Record<string, number>> | null;
  /** The whole refund. */
  readonly amountCents: number;
  /** The part that the remainder method refunds. The charges are the other part. */
  readonly remainderCents: number;
  /** The references of the charges that are reversed, each as a whole. */
  readonly references: readonly string[];
}

/** The record of a refund. */
export interface Refund extends NewRefund {
  readonly orderId: string;
  readonly createdAt: Date;
  /** When it was done, except for reversals that are still owed, as their charges show; null while it is being made. */
  readonly doneAt: Date | null;
}

/** A change of a purchase. Missing fields are unchanged. */
export interface PurchaseChange {
  readonly from: readonly PurchaseState[];
  readonly to: PurchaseState;
  /** Requires this attempt. */
  readonly attemptId?: string;
  /** Requires that this owner holds the lease. */
  readonly owner?: string;
  readonly remainderData?: string;
  /** Takes the lease from any holder, or renews it; null releases it. */
  readonly lease?: PurchaseLease | null;
  /** Delays the next attempt of recovery. Default: a change of state makes it due at once. */
  readonly retryInMs?: number;
  /** The error code of a failed step, which is counted. Default: a change of state clears it and the count. */
  readonly lastError?: string;
  readonly lastActor?: string;
  readonly remainderSettledBy?: string;
  /** Records this refund in the same write. If its id or number exists already, nothing is changed, and the result is null. */
  readonly refund?: NewRefund;
  /** Records in the same write that the order's pending refund is done. */
  readonly isRefundDone?: true;
}

/** A filter of purchases. */
export interface PurchaseListing {
  /** Default: those that aren't settled. */
  readonly states?: readonly PurchaseState[];
  /** The minimum number of failed attempts. Default 0. */
  readonly minTries?: number;
  /** Default 50. */
  readonly limit?: number;
  /** Default 0. */
  readonly offset?: number;
}

/** The storage of purchases. Every change is atomic and durable, and uses the store's clock. */
export interface PurchaseStore {
  /**
   * Begins an attempt to pay a new order, or one whose last attempt has failed. A cart has at most one purchase that is paid or
   * can be paid still.
   *
   * @returns the stored purchase of the order, or of the cart's other order; it is the caller's if it has the caller's
   *   `attemptId`
   */
  begin(purchase: NewPurchase, lease: PurchaseLease): Promise<Purchase>;
  /** Returns the purchase of an order, or null. */
  read(orderId: string): Promise<Purchase | null>;
  /** Returns the purchase of a cart that is paid or can be paid still, or null. */
  ofCart(cartId: string): Promise<Purchase | null>;
  /** Changes a purchase by compare-and-set. Returns null if it isn't in `from` (or not this attempt's, or not leased to `owner`). */
  change(orderId: string, change: PurchaseChange): Promise<Purchase | null>;
  /** Returns all refunds of an order by number. Only the last one can be pending. */
  refunds(orderId: string): Promise<Refund[]>;
  /**
   * Leases up to `limit` unsettled purchases whose lease has run out: those whose next attempt is due, the longest overdue
   * first, or the purchase of an order. Never leases a pending one before it is due.
   */
  claim(lease: PurchaseLease, limit: number, orderId?: string): Promise<Purchase[]>;
  /** Lists purchases by most failed attempts first, then the oldest, with the count of all matches. */
  list(listing: PurchaseListing): Promise<{ purchases: Purchase[]; count: number }>;
}

/** A purchase to begin. */
export type NewPurchase = Pick<
  Purchase,
  "orderId" | "cartId" | "attemptId" | "totalCents" | "currency" | "remainderCents" | "plan" | "lines"
>;

/** The storage of a checkout: the journal of charges, and the purchases that they belong to. */
export interface CheckoutStore {
  readonly journal: Journal;
  readonly purchases: PurchaseStore;
}

/** Converts a row of giftcard_purchase. */
export function toPurchase(row: Record<string, unknown>): Purchase {
  return {
    orderId: String(row.order_id),
    cartId: String(row.cart_id),
    attemptId: String(row.attempt_id),
    earlierAttempts: JSON.parse(String(row.earlier_attempts)),
    state: row.state as PurchaseState,
    totalCents: cents(Number(row.total_cents)),
    currency: String(row.currency),
    remainderCents: cents(Number(row.remainder_cents)),
    plan: String(row.plan),
    remainderData: row.remainder_data as string | null,
    lines: row.lines === null ? null : JSON.parse(String(row.lines)),
    tries: Number(row.tries),
    lastError: row.last_error as string | null,
    lastActor: row.last_actor as string | null,
    remainderSettledBy: row.remainder_settled_by as string | null,
    createdAt: new Date(row.created_at as string),
  };
}

/** Converts a row of giftcard_refund. */
export function toRefund(row: Record<string, unknown>): Refund {
  return {
    id: String(row.id),
    orderId: String(row.order_id),
    number: Number(row.number),
    rule: row.rule as RefundRule,
    lines: row.lines === null ? null : JSON.parse(String(row.lines)),
    amountCents: Number(row.amount_cents),
    remainderCents: Number(row.remainder_cents),
    references: JSON.parse(String(row.charge_references)),
    createdAt: new Date(row.created_at as string),
    doneAt: row.done_at === null ? null : new Date(row.done_at as string),
  };
}
