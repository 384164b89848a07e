import type { Cents } from "@giftcard-pay/client";
import { CheckoutError, noSuchOrder } from "../../engine/errors.js";
import { paidStates, undecidedStates } from "../../store/purchase-states.js";
import type { Purchase } from "../../store/purchase-store.js";
import { groupByPayment } from "../card-payments.js";
import type { PurchaseContext } from "../context.js";
import type { RemainderData } from "../remainder.js";
import type { PurchaseSteps } from "../steps.js";

/** The fields of every result of an order's payment. Amounts in cents. */
interface PayAmounts {
  /** Empty if the payment is declined. */
  readonly cards: readonly { readonly lastFour: string; readonly amountCents: Cents }[];
  readonly remainderCents: Cents;
}

/** The result of an order's payment. */
export type PayResult =
  /** `paid`: cards and remainder are paid. `declined`: nothing was taken, or recovery returns it. */
  | (PayAmounts & { readonly status: "paid" | "declined" })
  /** The cards are charged, and the remainder is not paid yet; see `confirm`. `data` is what the method stored. */
  | (PayAmounts & { readonly status: "pending"; readonly data: RemainderData | null });

interface PendingContext extends PurchaseContext {
  readonly steps: PurchaseSteps;
}

/** Decides about payments that have begun: when the shopper returns, leaves, or the method sends a notification. */
export function createPending({ steps, purchases, remainder, report }: PendingContext) {
  async function toResult(purchase: Purchase, status: PayResult["status"]): Promise<PayResult> {
    const { remainderCents, remainderData } = purchase;
    const charges = status === "declined" ? [] : (await steps.chargesOf(purchase)).reverse();
    const cards = groupByPayment(charges).map(({ lastFour, amountCents }) => ({ lastFour, amountCents }));
    if (status !== "pending") return { status, cards, remainderCents };
    return { status, cards, remainderCents, data: remainderData === null ? null : JSON.parse(remainderData) };
  }

  /** Returns the result of a purchase in its current state. */
  function resultOf(purchase: Purchase): Promise<PayResult> {
    const { state } = purchase;
    if (paidStates.includes(state)) return toResult(purchase, "paid");
    if (state === "pending") return toResult(purchase, state);
    if (state === "voiding" || state === "failed") return toResult(purchase, "declined");
    throw new CheckoutError(state === "charging" ? "payment_in_progress" : "cart_completed");
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

  const readKnown = async (orderId: string): Promise<Purchase> => {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw noSuchOrder();
    return purchase;
  };

  async function confirmRead(purchase: Purchase): Promise<PayResult> {
    const hasFailed = purchase.state === "failed" && purchase.remainderCents > 0;
    const isOpen = purchase.state === "pending" || hasFailed;
    return resultOf(isOpen ? await decidePending(purchase, false) : purchase);
  }

  const confirm = async (orderId: string): Promise<PayResult> => confirmRead(await readKnown(orderId));

  async function abandon(orderId: string): Promise<PayResult> {
    const purchase = await readKnown(orderId);
    return resultOf(purchase.state === "pending" ? await decidePending(purchase, true) : purchase);
  }

  /** Handles a notification of the method. @returns the order that it concerns, or null */
  async function notice(request: Request): Promise<PayResult | null> {
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
    const purchase = await purchases.read(orderId);
    const { state } = purchase ?? {};
    if (purchase && purchase.totalCents === totalCents) {
      if (undecidedStates.includes(purchase.state)) throw new CheckoutError("payment_in_progress");
      // A single charge may have been reversed since: the purchase is still paid, but not for the total.
      if (state === "paid" && (await steps.heldCents(purchase)) === totalCents) return purchase;
    }
    throw new CheckoutError("amount_changed");
  }

  return { resultOf, decidePending, confirm, abandon, notice, assertPaid };
}
