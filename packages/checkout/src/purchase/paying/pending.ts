import type { Cents } from "@giftcard-pay/client";
import { CheckoutError } from "../../engine/errors.js";
import { paidStates, undecidedStates } from "../../store/purchase-states.js";
import type { Purchase } from "../../store/purchase-store.js";
import type { OrderPayment } from "../order-payment.js";
import type { StepsContext } from "../steps.js";

/** Decides about payments that have begun: when the shopper returns, leaves, or the method sends a notification. */
export function createPending({ steps, purchases, remainder, report }: StepsContext) {
  /** Returns the payment of an order. @throws {CheckoutError} while it is being made, or if it was canceled or refunded */
  function resultOf(purchase: Purchase): Promise<OrderPayment> {
    const { state } = purchase;
    if (state === "charging") throw new CheckoutError("payment_in_progress");
    if (["canceling", "canceled", "refunded"].includes(state)) throw new CheckoutError("cart_completed");
    return steps.paymentOf(purchase);
  }

  /**
   * Asks the method for a remainder, and completes or voids its purchase.
   *
   * @param isGivenUp whether the shopper no longer pays it: then a pending one is voided too
   * @returns the current purchase
   */
  async function decidePending(waiting: Purchase, isGivenUp: boolean): Promise<Purchase> {
    const { status, purchase } = await steps.askRemainder(waiting);
    if (status === "pending" && !isGivenUp) return purchase;
    if (status !== "authorized") return steps.voidPurchase(purchase, "remainder_declined");
    let now: Purchase;
    try {
      now = await steps.complete(purchase);
    } catch (error) {
      // If the store fails, nothing is decided: the shop or recovery tries again.
      if (error instanceof CheckoutError) await steps.voidPurchase(purchase, "completion_failed").catch(report);
      throw error;
    }
    // The remainder was paid after the purchase had failed: cancel it.
    if (now.attemptId !== purchase.attemptId || !paidStates.includes(now.state))
      now = await steps.voidPurchase(purchase, "remainder_lapsed", { isLate: true });
    await steps.cancelReplaced(purchase, now);
    return now;
  }

  async function confirmRead(purchase: Purchase): Promise<OrderPayment> {
    const hasFailed = purchase.state === "failed" && purchase.remainderCents > 0;
    const isOpen = purchase.state === "pending" || hasFailed;
    return resultOf(isOpen ? await decidePending(purchase, false) : purchase);
  }

  const confirm = async (orderId: string): Promise<OrderPayment> => confirmRead(await steps.known(orderId));

  async function abandon(orderId: string): Promise<OrderPayment> {
    const purchase = await steps.known(orderId);
    return resultOf(purchase.state === "pending" ? await decidePending(purchase, true) : purchase);
  }

  /** Handles a notification of the method. @returns the order that it concerns, or null */
  async function notice(request: Request): Promise<OrderPayment | null> {
    const noticed = await remainder.webhook(request);
    if (!noticed) return null;
    const { orderId, attemptId, data } = noticed;
    const purchase = await purchases.read(orderId);
    // Don't read it again: if the order has a new attempt by then, the remainder of this one would stay paid.
    if (purchase?.attemptId === attemptId) return confirmRead(purchase);
    // Shops that share an account at the provider may have orders with the same id. Leave their payments alone.
    if (purchase) await steps.cancelReplaced({ ...purchase, attemptId, remainderData: JSON.stringify(data) }, purchase);
    return null;
  }

  async function assertPaid(orderId: string, totalCents: Cents): Promise<Purchase> {
    const purchase = await steps.known(orderId);
    const { state } = purchase;
    if (purchase.totalCents === totalCents) {
      if (undecidedStates.includes(state)) throw new CheckoutError("payment_in_progress");
      // A single charge may have been reversed since: the purchase is still paid, but not for the total.
      if (state === "paid" && (await steps.heldCents(purchase)) === totalCents) return purchase;
    }
    throw new CheckoutError("amount_changed");
  }

  return { resultOf, decidePending, confirm, abandon, notice, assertPaid };
}
