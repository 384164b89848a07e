import { randomUUID } from "node:crypto";
import type { Engine } from "../engine/engine.js";
import { CheckoutError } from "../engine/errors.js";
import type { Charge } from "../store/charge.js";
import { heldStates } from "../store/charge-states.js";
import type { Attempt, CheckoutStore, Purchase, PurchaseChange } from "../store/purchase-store.js";
import { type OrderPayment, toOrderPayment } from "./order-payment.js";
import type { Remainder } from "./remainder.js";

/** The dependencies that all parts of a purchase share. */
export interface PurchaseContext extends CheckoutStore {
  readonly engine: Engine;
  readonly remainder: Remainder;
  readonly leaseMs: number;
  /** Announces a change of state to an observer, which can't affect it. */
  readonly announce: (purchase: Purchase) => void;
  /** Reports failures that no caller waits for. */
  readonly report: (failure: unknown) => void;
}

/** Returns a new name for a holder of a lease. */
export const newOwner = (): string => randomUUID();

/** Reads purchases with their charges, and leases and changes them. */
export function createRecords({ journal, purchases, leaseMs, announce }: PurchaseContext) {
  const chargesOf = async ({ cartId, attemptId }: Attempt): Promise<Charge[]> =>
    (await journal.chargesOfCart(cartId)).filter((charge) => charge.attemptId === attemptId);

  /** Reads the purchase of an order. @throws {CheckoutError} order_not_found */
  async function known(orderId: string): Promise<Purchase> {
    const purchase = await purchases.read(orderId);
    if (!purchase) throw new CheckoutError("order_not_found");
    return purchase;
  }

  /** Returns the charges of all attempts to pay an order, the newest first. @throws as `known` */
  async function chargesOfOrder(orderId: string): Promise<Charge[]> {
    const purchase = await known(orderId);
    return (await Promise.all([purchase, ...purchase.earlierAttempts.toReversed()].map(chargesOf))).flat();
  }

  const paymentOf = async (purchase: Purchase): Promise<OrderPayment> =>
    toOrderPayment(purchase, (await chargesOf(purchase)).reverse());

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

  /** Leases the purchase of an order. Returns null if it is held or settled. */
  async function claim(orderId: string, owner = newOwner()) {
    const [purchase] = await purchases.claim({ owner, forMs: leaseMs }, 1, orderId);
    return purchase ? { purchase, owner } : null;
  }

  /**
   * Renews the lease of a purchase before a slow call. If the process stalled for so long that the call would outlive the lease,
   * another process may have taken the purchase over: renews it again.
   *
   * @returns null if this owner doesn't hold the purchase any more
   */
  async function renewLease(
    { orderId, attemptId, state }: Purchase,
    owner: string,
    more: Pick<PurchaseChange, "remainderData"> = {},
  ): Promise<Purchase | null> {
    for (;;) {
      const askedAt = Date.now();
      const lease = { owner, forMs: leaseMs };
      const renewed = await purchases.change(orderId, { from: [state], to: state, attemptId, owner, lease, ...more });
      if (!renewed || Date.now() - askedAt < leaseMs / 2) return renewed;
    }
  }

  return { known, renewLease, chargesOf, chargesOfOrder, paymentOf, heldCents, change, reread, claim };
}

export type PurchaseRecords = ReturnType<typeof createRecords>;
