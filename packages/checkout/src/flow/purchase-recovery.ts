import { CheckoutError } from "../errors.js";
import type { Charge } from "../store/journal.js";
import { type Purchase, undecidedStates } from "../store/purchase-store.js";
import { type ChargeView, viewCharge } from "./charge-view.js";
import { isReversing, newOwner, type PurchaseContext, type PurchaseSteps } from "./purchase-steps.js";
import { faultCode } from "./remainder.js";

interface RecoveryContext extends PurchaseContext {
  readonly steps: PurchaseSteps;
  readonly confirm: (orderId: string) => Promise<unknown>;
}

/** Reversing what an order was paid with, and settling what crashes and failures left. */
export function createPurchaseRecovery(options: RecoveryContext) {
  const { steps, engine, purchases, leaseMs, report, confirm } = options;

  const find = async (orderId: string): Promise<Purchase> => {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw new CheckoutError("cart_not_found");
    return purchase;
  };

  /** Reverses what an order was paid with, or what was taken for one that wasn't paid. */
  async function reverse(orderId: string, to: "reversing" | "refunding"): Promise<Charge[]> {
    const reason = to === "reversing" ? "order_canceled" : "refunded";
    const before = await find(orderId);
    if (undecidedStates.includes(before.state)) {
      const now = await steps.voidPurchase(before, reason);
      // Paid at this very moment by another process, it is reversed as what it is.
      if (now.state !== "paid") return steps.chargesOf(now);
    }
    const owner = newOwner();
    const from = to === "reversing" ? (["paid", "refunding", "refunded"] as const) : (["paid"] as const);
    // Owed as a whole before any part is tried, so that a crash in between leaves none behind.
    const owed = await steps.change(orderId, { from, to, lease: { owner, forMs: leaseMs } });
    const held = owed ?? (await steps.claim(orderId, owner))?.purchase;
    if (held && isReversing(held)) await steps.reverseAll(held, owner);
    // Somebody else is at it, and the remainder goes back once; the cards' part may be tried by everybody.
    else if (isReversing(before)) await steps.reverseCards(before, reason);
    return steps.chargesOf(await steps.reread(before));
  }

  async function refund(orderId: string, reference?: string): Promise<Charge[]> {
    const purchase = await find(orderId);
    const isUnpaid = [...undecidedStates, "voiding", "failed"].includes(purchase.state);
    if (reference === undefined || isUnpaid) return reverse(orderId, "refunding");
    const charge = (await steps.chargesOf(purchase)).find((one) => one.reference === reference);
    if (!charge) throw new CheckoutError("applied_card_not_found");
    return [await engine.reverse(reference, "refunded")];
  }

  async function recoverPurchases(): Promise<Purchase[]> {
    const decided = new Map<string, Purchase>();
    for (let isNew = true; isNew; ) {
      const owner = newOwner();
      const [due] = await purchases.claim({ owner, forMs: leaseMs }, 1);
      if (!due) break;
      // The longest due comes first: one that comes again shows that all others had their turn.
      isNew = !decided.has(due.orderId);
      const now = await steps.decide(due, owner).catch((error: unknown) => {
        report(error);
        return due;
      });
      decided.set(now.orderId, now);
    }
    return [...decided.values()];
  }

  /** Each half goes on whatever becomes of the other. */
  async function recover(): Promise<{ purchases: Purchase[]; charges: ChargeView[] }> {
    const [charges] = await Promise.allSettled([engine.recover({ orderOf: steps.orderOf })]);
    const [purchasesDone] = await Promise.allSettled([recoverPurchases()]);
    if (charges.status === "rejected") throw charges.reason;
    if (purchasesDone.status === "rejected") throw purchasesDone.reason;
    return { purchases: purchasesDone.value, charges: charges.value.map(viewCharge) };
  }

  async function retry(orderId: string, actor: string): Promise<Purchase | null> {
    const lastActor = actor;
    const waiting = { from: ["pending"], to: "pending" } as const;
    const pending = await steps.change(orderId, { ...waiting, lastActor });
    if (pending) {
      await confirm(orderId).catch(async (error: unknown) => {
        report(error);
        await steps.change(orderId, { ...waiting, lastError: faultCode("status", error) });
      });
      return steps.reread(pending);
    }
    const held = await steps.claim(orderId);
    if (!held) return null;
    const { owner, purchase } = held;
    const { state } = purchase;
    const asked = await steps.change(orderId, { from: [state], to: state, owner, lastActor });
    return asked && steps.decide(asked, owner);
  }

  return { reverse, refund, recover, retry };
}
