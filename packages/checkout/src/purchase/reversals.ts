import { cents } from "@giftcard-pay/client";
import { retryDelayMs } from "../engine/charge-recovery.js";
import type { Purchase } from "../store/purchase-store.js";
import { type CardPayment, groupByPayment } from "./card-payments.js";
import type { PurchaseContext, PurchaseRecords } from "./records.js";
import { faultCode } from "./remainder.js";

/** The states in which a whole purchase is reversed, each with its final state and the reason for its charges. */
const reversals = {
  voiding: { to: "failed", reason: "completion_failed" },
  canceling: { to: "canceled", reason: "order_canceled" },
} as const;
type Reversing = keyof typeof reversals;

/** Whether the whole purchase is being reversed. */
export const isReversing = (purchase: Purchase): purchase is Purchase & { state: Reversing } =>
  purchase.state in reversals;

/** Takes a step for each card. If one fails, the others continue. @returns the first fault, or null */
async function eachCard<T>(
  cards: readonly T[],
  step: (card: T) => Promise<unknown>,
  report: PurchaseContext["report"],
): Promise<string | null> {
  let fault: string | null = null;
  for (const card of cards) {
    await step(card).catch((error: unknown) => {
      report(error);
      fault ??= faultCode("card", error);
    });
  }
  return fault;
}

/** Returns the money of a purchase whose state says that it is owed, in full or in part. */
export function createReversals(context: PurchaseContext, records: PurchaseRecords) {
  const { engine, purchases, remainder, report } = context;
  const { chargesOf, change, reread, heldCents, renewLease } = records;

  /** Reverses the cards' part of a purchase. @returns the first fault, or null */
  const reverseCards = async (purchase: Purchase, reason: string): Promise<string | null> =>
    eachCard(await chargesOf(purchase), ({ reference }) => engine.reverse(reference, reason), report);

  /**
   * Cancels or refunds the remainder, unless another process has taken the purchase over, or a person has settled it elsewhere.
   *
   * @returns the fault, or null
   */
  async function sendToRemainder(
    purchase: Purchase,
    owner: string,
    call: "cancel" | "refund",
    send: () => Promise<void>,
  ): Promise<string | null> {
    if (purchase.remainderSettledBy !== null) return null;
    // The cards may have taken long. With a new lease, the call ends before the lease does.
    if (!(await renewLease(purchase, owner))) return null;
    try {
      await send();
      return null;
    } catch (error) {
      report(error);
      return faultCode(call, error);
    }
  }

  /** Cancels the remainder of an attempt that a new one has replaced, unless a person has settled it elsewhere. Nobody else will. */
  async function cancelReplaced(attempt: Purchase, { earlierAttempts }: Purchase): Promise<void> {
    const replaced = earlierAttempts.find(({ attemptId }) => attemptId === attempt.attemptId);
    if (replaced?.remainderSettledBy === null) await remainder.cancel({ ...attempt, ...replaced });
  }

  /** Reverses a whole purchase: first the cards, then the remainder. If one part fails, the others continue. */
  async function reverseAll(
    purchase: Purchase & { state: Reversing },
    owner: string,
    reason: string = reversals[purchase.state].reason,
  ): Promise<Purchase> {
    const { orderId, attemptId, state } = purchase;
    const cardsFault = await reverseCards(purchase, reason);
    const cancel = () => remainder.cancel(purchase);
    const hasRemainder = purchase.remainderCents > 0;
    const fault = (hasRemainder ? await sendToRemainder(purchase, owner, "cancel", cancel) : null) ?? cardsFault;
    const held = { from: [state], attemptId, owner, lease: null } as const;
    const now =
      fault === null
        ? await change(orderId, { ...held, to: reversals[state].to, isRefundDone: true })
        : await putOff(purchase, owner, fault);
    return now ?? reread(purchase);
  }

  /** Records why the next step failed, and when it is retried. */
  function putOff(purchase: Purchase, owner: string, lastError: string): Promise<Purchase | null> {
    const { orderId, attemptId, state, tries } = purchase;
    const retryInMs = retryDelayMs(tries);
    const retry = { from: [state], to: state, attemptId, owner, lease: null, retryInMs, lastError };
    return purchases.change(orderId, retry);
  }

  /**
   * Completes the pending refund of a purchase that this caller holds: first its charges, then the remainder's part. Each is
   * idempotent by the refund's id. If one part fails, the others continue.
   *
   * @returns the current purchase: paid again, or refunded if nothing is left
   */
  async function finishRefund(purchase: Purchase, owner: string): Promise<Purchase> {
    const { orderId, attemptId } = purchase;
    const refund = (await purchases.refunds(orderId)).find(({ doneAt }) => doneAt === null);
    let fault: string | null = null;
    if (refund) {
      const { id, number, references, remainderCents: amountCents } = refund;
      const chosen = (await chargesOf(purchase)).filter(({ reference }) => references.includes(reference)).reverse();
      const refundCard = (card: CardPayment) =>
        engine.refund(card.externalId, { id, amountCents: card.amountCents, references });
      fault = await eachCard(groupByPayment(chosen), refundCard, report);
      const part = { id, idempotencyKey: `${attemptId}:${number}`, amountCents: cents(amountCents) };
      const send = () => remainder.refund(purchase, part);
      if (amountCents > 0) fault = (await sendToRemainder(purchase, owner, "refund", send)) ?? fault;
    }
    if (fault !== null) return (await putOff(purchase, owner, fault)) ?? reread(purchase);
    const to = (await heldCents(purchase)) === 0 ? "refunded" : "paid";
    const done = { from: ["refunding"], to, attemptId, owner, lease: null, isRefundDone: true } as const;
    return (await change(orderId, done)) ?? reread(purchase);
  }

  return { reverseCards, cancelReplaced, reverseAll, putOff, finishRefund };
}
