/** Every state that the payment of an order can be in. */
export const purchaseStates = [
  /** A commit is under way. */
  "charging",
  /** The cards are charged, and the remainder is still to be paid elsewhere. */
  "pending",
  "paid",
  /** What was taken is being given back. */
  "undoing",
  /** Nothing is taken; a new commit may begin. */
  "failed",
  /** It was paid, and everything goes back, or went. */
  "reversing",
  "reversed",
  /** It was paid, and the cards' part goes back, or went. */
  "refunding",
  "refunded",
] as const;
/** The state of an order's payment. */
export type PurchaseState = (typeof purchaseStates)[number];

/** The payment of one order, as it is written down beside the journal. */
export interface Purchase {
  readonly orderId: string;
  readonly cartId: string;
  /** Which commit charged: it owns the attempts, and their payments are named after it. */
  readonly runId: string;
  readonly state: PurchaseState;
  readonly totalCents: number;
  /** What the cards leave to another method. */
  readonly remainderCents: number;
  /** What the shop said of a pending remainder, such as the address to send the shopper to. JSON. */
  readonly remainderData: string | null;
}

/** What a change writes; what is left out stays. */
export interface PurchaseChange {
  readonly from: readonly PurchaseState[];
  readonly to: PurchaseState;
  /** Only while this run is the purchase's. */
  readonly runId?: string;
  readonly remainderCents?: number;
  readonly remainderData?: string;
  /** Nobody else takes it for so long; null gives it up. */
  readonly leaseMs?: number | null;
}

/** Where purchases are written down. Every change is atomic and durable, and judged by the store's clock. */
export interface PurchaseBook {
  /**
   * Begins a purchase under a new run: of a new order, or of one whose last try has failed.
   * @returns what stands there now; it is the caller's if it has the caller's `runId`
   */
  begin(purchase: Omit<Purchase, "state" | "remainderData">, leaseMs: number): Promise<Purchase>;
  /** The purchase of an order, or null. */
  read(orderId: string): Promise<Purchase | null>;
  /** Compare-and-set; null when it wasn't in `from` (or not this run's). */
  change(orderId: string, change: PurchaseChange): Promise<Purchase | null>;
  /** Leases up to `limit` purchases that aren't settled and whose lease has run out: all, or one order's. */
  claim(leaseMs: number, limit: number, orderId?: string): Promise<Purchase[]>;
}

/** States that recovery ends. */
export const unsettledStates: readonly PurchaseState[] = [
  "charging",
  "pending",
  "undoing",
  "reversing",
  "refunding",
];

/** A row of giftcard_purchase. */
export function toPurchase(row: Record<string, unknown>): Purchase {
  return {
    orderId: String(row.order_id),
    cartId: String(row.cart_id),
    runId: String(row.run_id),
    state: row.state as PurchaseState,
    totalCents: Number(row.total_cents),
    remainderCents: Number(row.remainder_cents),
    remainderData: row.remainder_data as string | null,
  };
}
