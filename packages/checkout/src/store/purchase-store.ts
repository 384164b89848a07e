import type { OrderLine } from "./order-line.js";

/** Every state that the payment of an order can be in. */
export const purchaseStates = [
  /** A commit is under way. */
  "charging",
  /** The cards are charged, and the remainder is still to be paid elsewhere. */
  "pending",
  "paid",
  /** What was taken is being reversed. */
  "voiding",
  /** Nothing is taken, or what is goes back by itself; a new commit may begin. */
  "failed",
  /** It was paid, and everything goes back, or went. */
  "canceling",
  "canceled",
  /** It is paid, and a refund of it is in work. */
  "refunding",
  /** It was paid, and all of it went back by refunds. */
  "refunded",
] as const;
/** The state of an order's payment. */
export type PurchaseState = (typeof purchaseStates)[number];

/** The payment of one order, as it is written down beside the journal. */
export interface Purchase {
  readonly orderId: string;
  readonly cartId: string;
  /** Which commit charged: it owns the charges, and their payments are named after it. */
  readonly attemptId: string;
  readonly state: PurchaseState;
  readonly totalCents: number;
  /** What the cards leave to another method. */
  readonly remainderCents: number;
  /** What the shop said of a pending remainder, such as the address to send the shopper to. JSON. */
  readonly remainderData: string | null;
  /** The order's lines, as they were paid; null where the shop gave none. */
  readonly lines: readonly OrderLine[] | null;
  /** How often the step after this state has failed. */
  readonly tries: number;
  /** Why it failed last, such as `cancel:ECONNREFUSED`: what failed and a code, never a text from outside. */
  readonly lastError: string | null;
  /** The person who asked last for another try. */
  readonly lastActor: string | null;
  /** When this run was begun. */
  readonly createdAt: Date;
}

/**
 * Where the money of a refund goes, as far as charges can be chosen for it:
 * - `as-paid`: back the way the returned units were paid, to the cent: what a card paid never goes to the other method. In
 *   proportion if no units are named
 * - `cards-first`: to the cards as much as can be
 * - `other-first`: to the other method as much as can be
 * - `in-proportion`: to the cards in the proportion in which they still hold what is open
 */
export type RefundRule = (typeof refundRules)[number];
/** Every rule, the default first. */
export const refundRules = ["as-paid", "cards-first", "other-first", "in-proportion"] as const;

/** Who decides about a purchase, and for how long nobody else does. */
export interface PurchaseLease {
  readonly owner: string;
  readonly forMs: number;
}

/** A refund of a paid order, to begin: what was decided, before any of it is done. */
export interface NewRefund {
  /** The shop's own id; no other refund of the order has it. */
  readonly id: string;
  /** Which of its order's refunds it is: 1, 2 and so on. By it two that were planned at the same moment are one. */
  readonly number: number;
  /** By which rule it was split. */
  readonly rule: RefundRule;
  /** How many units of each line come back, by the line's id; null for an amount. */
  readonly lines: Readonly<Record<string, number>> | null;
  /** What goes back in all. */
  readonly amountCents: number;
  /** What of it the remainder's method gives back; the charges are the rest. */
  readonly remainderCents: number;
  /** The charges that go back, each as a whole, by their references. */
  readonly references: readonly string[];
}

/** A refund, as it is written down. */
export interface Refund extends NewRefund {
  readonly orderId: string;
  readonly createdAt: Date;
  /** When nothing was left to do but what is owed to a card, which its charge says; null while it is in work. */
  readonly doneAt: Date | null;
}

/** What a change writes; what is left out stays. */
export interface PurchaseChange {
  readonly from: readonly PurchaseState[];
  readonly to: PurchaseState;
  /** Only while this run is the purchase's. */
  readonly attemptId?: string;
  /** Only while this owner holds the lease. */
  readonly owner?: string;
  readonly remainderData?: string;
  /** Takes (or keeps) the lease for so long, from whoever has it; null gives it up. */
  readonly lease?: PurchaseLease | null;
  /** Lets recovery come back no sooner than this. Left out: a change of state makes it due at once. */
  readonly retryInMs?: number;
  /** Why the next step failed: a code. Counts a try. Left out: a change of state clears it, and the tries. */
  readonly lastError?: string;
  readonly lastActor?: string;
  /** Writes this refund of the order down with it. Where its id or number is there already, nothing is changed: null. */
  readonly refund?: NewRefund;
  /** Writes down with it that the order's refund in work is done. */
  readonly isRefundDone?: true;
}

/** Which purchases to read. */
export interface PurchaseListing {
  /** Default: those that aren't settled. */
  readonly states?: readonly PurchaseState[];
  /** Whose next step has failed so often. Default 0. */
  readonly minTries?: number;
  /** Default 50. */
  readonly limit?: number;
  /** Default 0. */
  readonly offset?: number;
}

/** Where purchases are written down. Every change is atomic and durable, and judged by the store's clock. */
export interface PurchaseStore {
  /**
   * Begins a purchase under a new run: of a new order, or of one whose last try has failed.
   * @returns what stands there now; it is the caller's if it has the caller's `attemptId`
   */
  begin(purchase: NewPurchase, lease: PurchaseLease): Promise<Purchase>;
  /** The purchase of an order, or null. */
  read(orderId: string): Promise<Purchase | null>;
  /** Compare-and-set; null when it wasn't in `from` (or not this run's, or not leased to `owner`). */
  change(orderId: string, change: PurchaseChange): Promise<Purchase | null>;
  /** All refunds of an order, by their numbers. At most the last one is in work. */
  refunds(orderId: string): Promise<Refund[]>;
  /**
   * Leases up to `limit` purchases that aren't settled and that nobody holds: those whose next try is due, the longest
   * due first, or one order's; a pending one never before it is due.
   */
  claim(lease: PurchaseLease, limit: number, orderId?: string): Promise<Purchase[]>;
  /** The most tries first, then the oldest, with the count of all that match. */
  list(listing: PurchaseListing): Promise<{ purchases: Purchase[]; count: number }>;
}

/** A purchase to begin. */
export type NewPurchase = Pick<
  Purchase,
  "orderId" | "cartId" | "attemptId" | "totalCents" | "remainderCents" | "lines"
>;

/** It may still be paid, or voided. */
export const undecidedStates: readonly PurchaseState[] = ["charging", "pending"];

/** It is paid, though a part of it may have gone back, or goes back now. */
export const paidStates: readonly PurchaseState[] = ["paid", "refunding"];

/** States that recovery ends. */
export const unsettledStates: readonly PurchaseState[] = [
  ...undecidedStates,
  "voiding",
  "canceling",
  "refunding",
];

/** A row of giftcard_purchase. */
export function toPurchase(row: Record<string, unknown>): Purchase {
  return {
    orderId: String(row.order_id),
    cartId: String(row.cart_id),
    attemptId: String(row.attempt_id),
    state: row.state as PurchaseState,
    totalCents: Number(row.total_cents),
    remainderCents: Number(row.remainder_cents),
    remainderData: row.remainder_data as string | null,
    lines: row.lines === null ? null : JSON.parse(String(row.lines)),
    tries: Number(row.tries),
    lastError: row.last_error as string | null,
    lastActor: row.last_actor as string | null,
    createdAt: new Date(row.created_at as string),
  };
}

/** A row of giftcard_refund. */
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
