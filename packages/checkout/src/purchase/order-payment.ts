import type { Cents } from "@giftcard-pay/client";
import type { Charge } from "../store/charge.js";
import type { PurchaseState } from "../store/purchase-states.js";
import type { Purchase } from "../store/purchase-store.js";
import { groupByPayment } from "./card-payments.js";
import type { RemainderData } from "./remainder.js";

/**
 * The outcome of each state. `paid`: cards and remainder are paid; a part may be refunded. `pending`: the cards are charged, and
 * the remainder is not paid yet; see `Checkout.confirm`. `declined`: nothing was taken, or recovery returns it.
 */
const statuses = {
  ...{ charging: "charging", pending: "pending", paid: "paid", refunding: "paid", refunded: "refunded" },
  ...{ voiding: "declined", failed: "declined", canceling: "canceled", canceled: "canceled" },
} as const satisfies Record<PurchaseState, string>;

/** The payment of an order: its record, and what pays it. */
export interface OrderPayment extends Purchase {
  readonly status: (typeof statuses)[PurchaseState];
  /** In the order in which they were charged; empty if the payment is declined. */
  readonly cards: readonly { readonly lastFour: string; readonly amountCents: Cents }[];
  /** The `data` that the remainder's method has stored. */
  readonly data: RemainderData | null;
}

/** Returns the payment of an order. @param charges in the order in which they were made */
export function toOrderPayment(purchase: Purchase, charges: readonly Charge[]): OrderPayment {
  const status = statuses[purchase.state];
  const cards = groupByPayment(status === "declined" ? [] : charges);
  return {
    ...purchase,
    status,
    cards: cards.map(({ lastFour, amountCents }) => ({ lastFour, amountCents })),
    data: JSON.parse(purchase.remainderData ?? "null"),
  };
}
