import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { retryDelayMs } from "../engine/charge-recovery.js";
import { LEAVE } from "../engine/engine.js";
import { CheckoutError } from "../engine/errors.js";
import type { Charge } from "../store/charge.js";
import { heldStates } from "../store/charge-states.js";
import { paidStates, undecidedStates } from "../store/purchase-states.js";
import type { Attempt, Purchase, PurchaseChange } from "../store/purchase-store.js";
import { type CardPayment, groupByPayment } from "./card-payments.js";
import type { PurchaseContext } from "./context.js";
import { faultCode, type RemainderAnswer } from "./remainder.js";

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

/** Returns a new name for a holder of a lease. */
export const newOwner = (): string => randomUUID();

/**
 * The steps of a purchase. Each decision is a single compare-and-set of the purchase's state, made before anything is done
 * because of it. If two callers race, in one process or in several, the second one finds it decided and does nothing.
 * A charge that took money is decided with its purchase and never alone: `orderOf` makes recovery leave it.
 */
export function createPurchaseSteps(context: PurchaseContext) {
  const { engine, journal, purchases, remainder, leaseMs, announce, report } = context;

  const chargesOf = async ({ cartId, attemptId }: Attempt): Promise<Charge[]> =>
    (await journal.chargesOfCart(cartId)).filter((charge) => charge.attemptId === attemptId);

  /** Returns the charges of all attempts to pay an order, the newest first. */
  async function chargesOfOrder(orderId: string): Promise<Charge[]> {
    const purchase = await purchases.read(orderId);
    const attempts = purchase ? [purchase, ...purchase.earlierAttempts.toReversed()] : [];
    return (await Promise.all(attempts.map(chargesOf))).flat();
  }

  /** Returns how much of a paid order's money was not refunded, of its cards and its remainder. */
  async function heldCents(purchase: Purchase): Promise<number> {
    const held = (await chargesOf(purchase)).filter((charge) => heldStates.includes(charge.state));
    const refunds = await purchases.refunds(purchase.orderId);
    const backCents = refunds.reduce((sum, { remainderCents }) => sum + remainderCents, 0);
    return held.reduce((sum, { deductedCents }) => sum + (deductedCents ?? 0), purchase.remainderCents - backCents);
  }

  async function change(orderId: string, wanted: PurchaseChange): Promise<Purchase | null> {
    const changed = await purchases.change(orderId, wanted);
    if (changed && !wanted.from.includes(wanted.to)) announce(changed);
    return changed;
  }

  const reread = async (purchase: Purchase): Promise<Purchase> => (await purchases.read(purchase.orderId)) ?? purchase;

  /**
   * Decides that the order is paid, and then commits its charges.
   *
   * @returns the current purchase: paid, unless it was decided otherwise before
   * @throws {CheckoutError} payment_in_progress if cards and remainder don't add up to the total
   */
  async function complete(purchase: Purchase): Promise<Purchase> {
    const { orderId, attemptId, totalCents, remainderCents } = purchase;
    const charges = await chargesOf(purchase);
    const held = charges.filter((charge) => charge.state === "devalued");
    const paidCents = held.reduce((sum, charge) => sum + (charge.deductedCents ?? 0), remainderCents as number);
    if (paidCents !== totalCents) {
      const now = await reread(purchase);
      if (now.attemptId !== attemptId || !undecidedStates.includes(now.state)) return now;
      throw new CheckoutError("payment_in_progress");
    }
    const paid = await change(orderId, { from: undecidedStates, to: "paid", attemptId, lease: null });
    if (!paid) return reread(purchase);
    for (const { reference } of charges) {
      // If this fails, recovery commits the charge, because the order is paid.
      await engine.commit(reference, attemptId, orderId).catch(report);
    }
    return paid;
  }

  /** Returns what recovery does with a charge whose lease ran out, as its purchase decides. */
  async function orderOf({ orderId, attemptId }: Charge): Promise<string | null | typeof LEAVE> {
    const purchase = orderId === null ? null : await purchases.read(orderId);
    if (purchase?.attemptId !== attemptId) return null;
    if (undecidedStates.includes(purchase.state)) return LEAVE;
    return paidStates.includes(purchase.state) ? orderId : null;
  }

  /**
   * Decides that the purchase is void, and reverses as much as possible now.
   *
   * @param options.owner only if this owner holds the purchase
   * @param options.isLate whether the remainder may have been taken after it was canceled: void the purchase again
   * @returns the current purchase: voided, unless it was decided otherwise before
   */
  async function voidPurchase(
    purchase: Purchase,
    reason: string,
    { owner, isLate = false }: { owner?: string; isLate?: boolean } = {},
  ): Promise<Purchase> {
    const { orderId, attemptId } = purchase;
    const lease = { owner: newOwner(), forMs: leaseMs };
    // A late attempt may know more than the store. Other callers may know less.
    const { remainderData } = purchase;
    const kept = isLate && remainderData !== null ? { remainderData } : {};
    const wanted = { to: "voiding", attemptId, lease, ...kept, ...(owner === undefined ? {} : { owner }) } as const;
    const from = isLate ? ([...undecidedStates, "failed"] as const) : undecidedStates;
    let owed = await change(orderId, { ...wanted, from });
    // Another process may have canceled the remainder too early. Take the purchase over from it.
    if (!owed && isLate) owed = await change(orderId, { ...wanted, from: ["voiding"] });
    return owed && isReversing(owed) ? reverseAll(owed, lease.owner, reason) : reread(purchase);
  }

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
    const { orderId, state, attemptId, remainderSettledBy } = purchase;
    if (remainderSettledBy !== null) return null;
    // The cards may have taken long. With a new lease, the call ends before the lease does.
    const lease = { owner, forMs: leaseMs };
    if (!(await purchases.change(orderId, { from: [state], to: state, attemptId, owner, lease }))) return null;
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

  /** Reads the status of the remainder, and stores the data that comes with it. @throws as the method's `status` */
  async function askRemainder(purchase: Purchase): Promise<{ status: RemainderAnswer["status"]; purchase: Purchase }> {
    const { status, data } = await remainder.status(purchase);
    if (data === undefined || data === purchase.remainderData) return { status, purchase };
    const { orderId, attemptId, state } = purchase;
    await purchases.change(orderId, { from: [state], to: state, attemptId, remainderData: data });
    return { status, purchase: { ...purchase, remainderData: data } };
  }

  /** Takes the next step of a purchase that this caller holds: its owed reversals, its refund, or its remainder. */
  async function decide(purchase: Purchase, owner: string): Promise<Purchase> {
    if (isReversing(purchase)) return reverseAll(purchase, owner);
    if (purchase.state === "refunding") return finishRefund(purchase, owner);
    // Without a remainder, the purchase is paid right after its cards are charged. This one was not.
    if (purchase.remainderCents === 0) return voidPurchase(purchase, "never_ordered", { owner });
    let asked: Awaited<ReturnType<typeof askRemainder>>;
    try {
      asked = await askRemainder(purchase);
    } catch (error) {
      report(error);
      return (await putOff(purchase, owner, faultCode("status", error))) ?? reread(purchase);
    }
    if (asked.status !== "authorized") {
      const reason = purchase.state === "pending" ? "remainder_lapsed" : "never_ordered";
      return voidPurchase(asked.purchase, reason, { owner });
    }
    return complete(purchase).catch((error: unknown) => {
      if (!(error instanceof CheckoutError)) throw error;
      return voidPurchase(purchase, "completion_failed");
    });
  }

  /** Leases the purchase of an order. Returns null if it is held or settled. */
  async function claim(orderId: string, owner = newOwner()) {
    const [purchase] = await purchases.claim({ owner, forMs: leaseMs }, 1, orderId);
    return purchase ? { purchase, owner } : null;
  }

  return {
    chargesOf,
    chargesOfOrder,
    askRemainder,
    cancelReplaced,
    change,
    claim,
    decide,
    reverseAll,
    finishRefund,
    heldCents,
    orderOf,
    reread,
    reverseCards,
    complete,
    voidPurchase,
  };
}

export type PurchaseSteps = ReturnType<typeof createPurchaseSteps>;
