import { type ChargeView, viewCharge } from "../engine/charge-view.js";
import { CheckoutError, noSuchOrder } from "../engine/errors.js";
import type { Charge } from "../store/charge.js";
import { type Purchase, undecidedStates } from "../store/purchase-store.js";
import type { PurchaseContext } from "./context.js";
import { isPaidStill } from "./refund-request.js";
import { faultCode } from "./remainder.js";
import { isReversing, newOwner, type PurchaseSteps } from "./steps.js";

interface RecoveryContext extends PurchaseContext {
  readonly steps: PurchaseSteps;
  readonly confirm: (orderId: string) => Promise<unknown>;
  /** Of an order that is paid. */
  readonly refundCards: (orderId: string, reference?: string) => Promise<Charge[]>;
}

/** Reversing what an order was paid with, and settling what crashes and failures left. */
export function createPurchaseRecovery(options: RecoveryContext) {
  const { steps, engine, purchases, leaseMs, report, confirm } = options;

  const find = async (orderId: string): Promise<Purchase> => {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw noSuchOrder();
    return purchase;
  };

  /**
   * Voids an order that isn't paid, and goes on where it is being given back as a whole already.
   *
   * @returns the purchase as it stands; one that is paid is left alone
   */
  async function endUnpaid(purchase: Purchase, reason: string): Promise<Purchase> {
    if (undecidedStates.includes(purchase.state)) return steps.voidPurchase(purchase, reason);
    if (!isReversing(purchase)) return purchase;
    const held = await steps.claim(purchase.orderId);
    if (held && isReversing(held.purchase)) return steps.reverseAll(held.purchase, held.owner);
    // Somebody else is at it, and the remainder goes back once; the cards' part may be tried by everybody.
    await steps.reverseCards(purchase, reason);
    return steps.reread(purchase);
  }

  /** Decides that everything goes back of an order that was paid. null where it has changed meanwhile. */
  async function beginCancel({ orderId, state }: Purchase, owner: string): Promise<Purchase | null> {
    // Owed as a whole before any part is tried, so that a crash in between leaves none behind.
    const change = { to: "canceling", lease: { owner, forMs: leaseMs } } as const;
    if (state !== "refunding") return steps.change(orderId, { ...change, from: [state] });
    // A refund may be at the remainder's method just now: only where nobody is at it.
    if (await steps.claim(orderId, owner)) return steps.change(orderId, { ...change, from: [state], owner });
    if ((await find(orderId)).state === "refunding") throw new CheckoutError("payment_in_progress");
    return null;
  }

  /** Reverses all that an order was paid with, or what was taken for one that wasn't paid. */
  async function cancel(orderId: string): Promise<Charge[]> {
    for (;;) {
      const now = await endUnpaid(await find(orderId), "order_canceled");
      if (!isPaidStill(now)) return steps.chargesOf(now);
      const owner = newOwner();
      const owed = await beginCancel(now, owner);
      if (owed && isReversing(owed)) return steps.chargesOf(await steps.reverseAll(owed, owner));
    }
  }

  async function refundCards(orderId: string, reference?: string): Promise<Charge[]> {
    const now = await endUnpaid(await find(orderId), "refunded");
    return isPaidStill(now) ? options.refundCards(orderId, reference) : steps.chargesOf(now);
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

  return { cancel, refundCards, recover, retry };
}
