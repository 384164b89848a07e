import { CheckoutError } from "../../engine/errors.js";
import type { Charge } from "../../store/charge.js";
import { undecidedStates } from "../../store/purchase-states.js";
import type { Purchase } from "../../store/purchase-store.js";
import { newOwner } from "../records.js";
import { isReversing } from "../reversals.js";
import type { StepsContext } from "../steps.js";
import { wasPaid } from "./refund-request.js";

interface CancelContext extends StepsContext {
  /** Refunds the cards of a paid order. */
  readonly refundCards: (orderId: string, reference?: string) => Promise<Charge[]>;
}

/** Cancels orders, paid or not. */
export function createCancel(options: CancelContext) {
  const { steps, leaseMs } = options;

  /**
   * Voids the purchase of an unpaid order, or continues a reversal of the whole purchase.
   *
   * @returns the current purchase; a paid one is unchanged
   */
  async function endUnpaid(purchase: Purchase, reason: string): Promise<Purchase> {
    if (undecidedStates.includes(purchase.state)) return steps.voidPurchase(purchase, reason);
    if (!isReversing(purchase)) return purchase;
    const held = await steps.claim(purchase.orderId);
    if (held && isReversing(held.purchase)) return steps.reverseAll(held.purchase, held.owner);
    // Another process holds it and cancels the remainder. Reversing cards is idempotent, so do it here too.
    await steps.reverseCards(purchase, reason);
    return steps.reread(purchase);
  }

  /** Decides to cancel a paid order. Returns null if the purchase has changed concurrently. */
  async function beginCancel({ orderId, attemptId, state }: Purchase, owner: string): Promise<Purchase | null> {
    // Recorded before any part is reversed, so that recovery completes it after a crash.
    const change = { to: "canceling", attemptId, lease: { owner, forMs: leaseMs } } as const;
    if (state !== "refunding") return steps.change(orderId, { ...change, from: [state] });
    // A running refund may be calling the remainder method. Take over only if its lease has run out.
    if (await steps.claim(orderId, owner)) return steps.change(orderId, { ...change, from: [state], owner });
    if ((await steps.known(orderId)).state === "refunding") throw new CheckoutError("payment_in_progress");
    return null;
  }

  /** Reverses the whole payment of an order, whether it is paid or not. A later attempt than `attemptId` is left alone. */
  async function cancel(orderId: string, attemptId?: string): Promise<Purchase> {
    for (;;) {
      const found = await steps.known(orderId);
      if (attemptId !== undefined && found.attemptId !== attemptId) return found;
      const now = await endUnpaid(found, "order_canceled");
      // A later attempt has replaced this one meanwhile, and may be paid.
      if (now.attemptId !== found.attemptId) continue;
      if (!wasPaid(now)) return now;
      const owner = newOwner();
      const owed = await beginCancel(now, owner);
      if (owed && isReversing(owed)) return steps.reverseAll(owed, owner);
    }
  }

  async function refundCards(orderId: string, reference?: string): Promise<Charge[]> {
    const now = await endUnpaid(await steps.known(orderId), "refunded");
    return wasPaid(now) ? options.refundCards(orderId, reference) : steps.chargesOf(now);
  }

  return { cancel, refundCards };
}
