/** The states of an order's payment. */
export const purchaseStates = [
  /** An attempt to pay is running. */
  "charging",
  /** The cards are charged, and the shopper pays the remainder elsewhere. */
  "pending",
  "paid",
  /** The cards and the remainder of a failed attempt are being reversed. */
  "voiding",
  /** Nothing is taken, or recovery reverses it. A new attempt can begin. */
  "failed",
  /** The order was paid, and is refunded in full. */
  "canceling",
  "canceled",
  /** The order is paid, and a refund of it is being made. */
  "refunding",
  /** The order was paid, and its refunds have returned everything. */
  "refunded",
] as const;
/** The state of an order's payment. */
export type PurchaseState = (typeof purchaseStates)[number];

/*
 * Groups of purchase states. Each has one meaning and one name, and the SQL uses the same lists.
 */

/** The purchase can still be paid or voided. */
export const undecidedStates: readonly PurchaseState[] = ["charging", "pending"];

/** The order is paid, and may be partly refunded. */
export const paidStates: readonly PurchaseState[] = ["paid", "refunding"];

/** The order was paid and not canceled, whatever its refunds have returned. */
export const soldStates: readonly PurchaseState[] = [...paidStates, "refunded"];

/** The cart is paid or can be paid still, so no other purchase of it can begin. */
export const cartStates: readonly PurchaseState[] = [...undecidedStates, ...paidStates];

/** Everything that was taken is being reversed. */
export const reversingStates: readonly PurchaseState[] = ["voiding", "canceling"];

/** Everything that was taken is being reversed, or is reversed. */
export const reversedStates: readonly PurchaseState[] = [...reversingStates, "failed", "canceled"];

/** The states that recovery settles. */
export const unsettledStates: readonly PurchaseState[] = [...undecidedStates, ...reversingStates, "refunding"];
