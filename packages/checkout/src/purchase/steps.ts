import { randomUUID } from "node:crypto";
import { LEAVE } from "../engine/engine.js";
import { CheckoutError } from "../engine/errors.js";
import { retryDelayMs } from "../engine/recovery.js";
import type { Charge } from "../store/charge.js";
import { heldStates } from "../store/charge-states.js";
import {
  type Purchase,
  type PurchaseChange,
  type PurchaseStore,
  paidStates,
  type Refund,
  undecidedStates,
} from "../store/purchase-store.js";
import { groupByPayment } from "./card-payments.js";
import type { PurchaseContext } from "./context.js";
import { faultCode, type Remainder } from "./remainder.js";

/** Where a purchase goes whose money goes back as a whole: the state that it ends in, and the reason that its charges get. */
const ends = {
  voiding: { to: "failed", reason: "completion_failed" },
  canceling: { to: "canceled", reason: "order_canceled" },
} as const;
type Reversing = keyof typeof ends;

/** Whether all that was taken for it is being reversed, or is owed. */
export const isReversing = (purchase: Purchase): purchase is Purchase & { state: Reversing } =>
  purchase.state in ends;

/** What a caller holds a purchase by: nobody else's name. */
export const newOwner = (): string => randomUUID();

/**
 * The steps by which a purchase is decided. Each decision is one compare-and-set of its state, made before anything is
 * done because of it; so whoever comes second, in this process or another, finds it decided and does nothing.
 * A charge that is on a card is decided with its purchase, and never alone: `orderOf` tells recovery so.
 */
export function createPurchaseSteps(context: PurchaseContext) {
  const { engine, journal, purchases, remainder, leaseMs, tell, report } = context;

  const chargesOf = async ({ cartId, attemptId }: Purchase): Promise<Charge[]> =>
    (await journal.chargesOfCart(cartId)).filter((charge) => charge.externalId.startsWith(`${attemptId}:`));

  /** What a paid order still has of its cards and its remainder. */
  async function heldCents(purchase: Purchase): Promise<number> {
    const held = (await chargesOf(purchase)).filter((charge) => heldStates.includes(charge.state));
    const refunds = await purchases.refunds(purchase.orderId);
    const backCents = refunds.reduce((sum, { remainderCents }) => sum + remainderCents, 0);
    return held.reduce(
      (sum, { deductedCents }) => sum + (deductedCents ?? 0),
      purchase.remainderCents - backCents,
    );
  }

  async function change(orderId: string, wanted: PurchaseChange): Promise<Purchase | null> {
    const changed = await purchases.change(orderId, wanted);
    if (changed && !wanted.from.includes(wanted.to)) tell(changed);
    return changed;
  }

  const begin: PurchaseStore["begin"] = async (wanted, lease) => {
    const purchase = await purchases.begin(wanted, lease);
    if (purchase.attemptId === wanted.attemptId) tell(purchase);
    return purchase;
  };

  const reread = async (purchase: Purchase): Promise<Purchase> =>
    (await purchases.read(purchase.orderId)) ?? purchase;

  /**
   * Decides that the order is paid, and then gives its charges to it.
   *
   * @returns the purchase as it stands: paid, unless it was decided otherwise before
   * @throws {CheckoutError} payment_in_progress where the cards and the remainder aren't the total
   */
  async function complete(purchase: Purchase): Promise<Purchase> {
    const { orderId, attemptId, totalCents, remainderCents } = purchase;
    const charges = await chargesOf(purchase);
    const held = charges.filter((charge) => charge.state === "devalued");
    const paidCents = held.reduce((sum, charge) => sum + (charge.deductedCents ?? 0), remainderCents);
    if (paidCents !== totalCents) {
      const now = await reread(purchase);
      if (now.attemptId !== attemptId || !undecidedStates.includes(now.state)) return now;
      throw new CheckoutError("payment_in_progress");
    }
    const paid = await change(orderId, { from: undecidedStates, to: "paid", attemptId, lease: null });
    if (!paid) return reread(purchase);
    for (const { reference } of charges) {
      // What fails here is recovery's: it finds the order paid.
      await engine.commit(reference, attemptId, orderId).catch(report);
    }
    return paid;
  }

  /** What recovery does with a charge that nobody holds any more: what its purchase says. */
  async function orderOf({ orderId, externalId }: Charge): Promise<string | null | typeof LEAVE> {
    const purchase = orderId === null ? null : await purchases.read(orderId);
    if (!purchase || !externalId.startsWith(`${purchase.attemptId}:`)) return null;
    if (undecidedStates.includes(purchase.state)) return LEAVE;
    return paidStates.includes(purchase.state) ? orderId : null;
  }

  /**
   * Decides that the purchase is void, and reverses what can be reversed now.
   *
   * @param options.owner only while this one holds it
   * @param options.isLate the remainder may have been taken after it was reversed: what was voided is voided again
   * @returns the purchase as it stands: voided, unless it was decided otherwise before
   */
  async function voidPurchase(
    purchase: Purchase,
    reason: string,
    { owner, isLate = false }: { owner?: string; isLate?: boolean } = {},
  ): Promise<Purchase> {
    const { orderId, attemptId } = purchase;
    const lease = { owner: newOwner(), forMs: leaseMs };
    const wanted = { to: "voiding", attemptId, lease, ...(owner === undefined ? {} : { owner }) } as const;
    const from = isLate ? ([...undecidedStates, "failed"] as const) : undecidedStates;
    let owed = await change(orderId, { ...wanted, from });
    // Whoever is at it may have asked too early; from now on it isn't theirs.
    if (!owed && isLate) owed = await change(orderId, { ...wanted, from: ["voiding"] });
    return owed && isReversing(owed) ? reverseAll(owed, lease.owner, reason) : reread(purchase);
  }

  /** Reverses the cards' part of a purchase. @returns why not all of it went, or null */
  async function reverseCards(purchase: Purchase, reason: string): Promise<string | null> {
    let fault: string | null = null;
    for (const { reference } of await chargesOf(purchase)) {
      try {
        await engine.reverse(reference, reason);
      } catch (error) {
        report(error);
        fault ??= faultCode("card", error);
      }
    }
    return fault;
  }

  /**
   * Has the remainder given back, or a part of it, unless somebody else has taken the purchase over.
   *
   * @returns why it didn't go, or null
   */
  async function askRemainder(
    purchase: Purchase,
    owner: string,
    what: "cancel" | "refund",
    ask: () => Promise<void>,
  ): Promise<string | null> {
    const { orderId, state, attemptId } = purchase;
    // The cards may have taken long. The call ends before the lease does.
    const lease = { owner, forMs: leaseMs };
    if (!(await purchases.change(orderId, { from: [state], to: state, attemptId, owner, lease })))
      return null;
    try {
      await ask();
      return null;
    } catch (error) {
      report(error);
      return faultCode(what, error);
    }
  }

  /** Reverses all of it: the cards first, then the remainder. A part that fails holds back no other. */
  async function reverseAll(
    purchase: Purchase & { state: Reversing },
    owner: string,
    reason: string = ends[purchase.state].reason,
  ): Promise<Purchase> {
    const { orderId, attemptId, state } = purchase;
    const cardsFault = await reverseCards(purchase, reason);
    const cancel = () => remainder.cancel(purchase);
    const hasRemainder = purchase.remainderCents > 0;
    const fault = (hasRemainder ? await askRemainder(purchase, owner, "cancel", cancel) : null) ?? cardsFault;
    const held = { from: [state], attemptId, owner, lease: null } as const;
    const now =
      fault === null
        ? await change(orderId, { ...held, to: ends[state].to, isRefundDone: true })
        : await putOff(purchase, owner, fault);
    return now ?? reread(purchase);
  }

  /** Writes down why the next step failed, and when it is tried again. */
  function putOff(purchase: Purchase, owner: string, lastError: string): Promise<Purchase | null> {
    const { orderId, attemptId, state, tries } = purchase;
    const retryInMs = retryDelayMs(tries);
    const waiting = { from: [state], to: state, attemptId, owner, lease: null, retryInMs, lastError };
    return purchases.change(orderId, waiting);
  }

  /** Reverses the charges of a refund. @returns why not all of it is written down as owed, or null */
  async function refundCharges(
    { id, references }: Refund,
    charges: readonly Charge[],
  ): Promise<string | null> {
    const chosen = charges.filter(({ reference }) => references.includes(reference)).toReversed();
    let fault: string | null = null;
    for (const { externalId, amountCents } of groupByPayment(chosen)) {
      try {
        await engine.refund(externalId, { id, amountCents, references });
      } catch (error) {
        report(error);
        fault ??= faultCode("card", error);
      }
    }
    return fault;
  }

  /**
   * Ends the refund in work of a purchase that this caller holds: its charges first, then the remainder's part. Each is
   * done once, by the refund's id, however often this is called. A part that fails holds back no other.
   *
   * @returns the purchase as it stands: paid again, or refunded where nothing of it is left
   */
  async function finishRefund(purchase: Purchase, owner: string): Promise<Purchase> {
    const { orderId, attemptId } = purchase;
    const refund = (await purchases.refunds(orderId)).find(({ doneAt }) => doneAt === null);
    let fault: string | null = null;
    if (refund) {
      const { id, number, remainderCents: amountCents } = refund;
      fault = await refundCharges(refund, await chargesOf(purchase));
      const part = { id, idempotencyKey: `${attemptId}:${number}`, amountCents };
      const ask = () => remainder.refund(purchase, part);
      if (amountCents > 0) fault = (await askRemainder(purchase, owner, "refund", ask)) ?? fault;
    }
    if (fault !== null) return (await putOff(purchase, owner, fault)) ?? reread(purchase);
    const to = (await heldCents(purchase)) === 0 ? "refunded" : "paid";
    const done = { from: ["refunding"], to, attemptId, owner, lease: null, isRefundDone: true } as const;
    return (await change(orderId, done)) ?? reread(purchase);
  }

  /** Ends a purchase that this caller holds: what is owed of it, or by what became of its remainder. */
  async function decide(purchase: Purchase, owner: string): Promise<Purchase> {
    if (isReversing(purchase)) return reverseAll(purchase, owner);
    if (purchase.state === "refunding") return finishRefund(purchase, owner);
    // What the cards cover alone is paid as soon as it is written down; this wasn't.
    if (purchase.remainderCents === 0) return voidPurchase(purchase, "never_ordered", { owner });
    let status: Awaited<ReturnType<Remainder["status"]>>;
    try {
      status = await remainder.status(purchase);
    } catch (error) {
      report(error);
      return (await putOff(purchase, owner, faultCode("status", error))) ?? reread(purchase);
    }
    if (status !== "authorized") {
      const reason = purchase.state === "pending" ? "remainder_lapsed" : "never_ordered";
      return voidPurchase(purchase, reason, { owner });
    }
    return complete(purchase).catch((error: unknown) => {
      if (!(error instanceof CheckoutError)) throw error;
      return voidPurchase(purchase, "completion_failed");
    });
  }

  /** Takes the purchase of this order, where nobody holds it; or null. */
  async function claim(orderId: string, owner = newOwner()) {
    const [purchase] = await purchases.claim({ owner, forMs: leaseMs }, 1, orderId);
    return purchase ? { purchase, owner } : null;
  }

  return {
    chargesOf,
    begin,
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
