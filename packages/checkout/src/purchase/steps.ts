import { LEAVE } from "../engine/engine.js";
import { CheckoutError } from "../engine/errors.js";
import type { Charge } from "../store/charge.js";
import { paidStates, undecidedStates } from "../store/purchase-states.js";
import type { Purchase } from "../store/purchase-store.js";
import { createRecords, newOwner, type PurchaseContext } from "./records.js";
import { faultCode, type RemainderAnswer } from "./remainder.js";
import { createReversals, isReversing } from "./reversals.js";

/**
 * The steps of a purchase. Each decision is a single compare-and-set of the purchase's state, made before anything is done
 * because of it. If two callers race, in one process or in several, the second one finds it decided and does nothing.
 * A charge that took money is decided with its purchase and never alone: `orderOf` makes recovery leave it.
 */
export function createPurchaseSteps(context: PurchaseContext) {
  const { engine, purchases, remainder, leaseMs, report } = context;
  const records = createRecords(context);
  const reversals = createReversals(context, records);
  const { chargesOf, change, reread } = records;
  const { reverseAll, finishRefund, putOff } = reversals;

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
    for (;;) {
      let owed = await change(orderId, { ...wanted, from });
      // Another process may have canceled the remainder too early. Take the purchase over from it.
      if (!owed && isLate) owed = await change(orderId, { ...wanted, from: ["voiding"] });
      if (owed && isReversing(owed)) return reverseAll(owed, lease.owner, reason);
      const now = await reread(purchase);
      // The other process may have finished between the two changes.
      if (!isLate || now.attemptId !== attemptId || !["voiding", ...from].includes(now.state)) return now;
    }
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

  return { ...records, ...reversals, askRemainder, decide, orderOf, complete, voidPurchase };
}

/** The steps that both rooms and recovery share. */
export interface StepsContext extends PurchaseContext {
  readonly steps: ReturnType<typeof createPurchaseSteps>;
}
