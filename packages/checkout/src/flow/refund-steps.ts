import type { Charge } from "../store/journal.js";
import type { Purchase, PurchaseChange, Refund } from "../store/purchase-store.js";
import type { PurchaseContext } from "./purchase-context.js";
import { faultCode } from "./remainder.js";

/** What of the purchase's other steps a refund needs. */
interface Basics {
  readonly chargesOf: (purchase: Purchase) => Promise<Charge[]>;
  readonly heldCents: (purchase: Purchase) => Promise<number>;
  readonly askRemainder: (
    purchase: Purchase,
    owner: string,
    what: "refund",
    ask: () => Promise<void>,
  ) => Promise<string | null>;
  readonly change: (orderId: string, wanted: PurchaseChange) => Promise<Purchase | null>;
  readonly putOff: (purchase: Purchase, owner: string, lastError: string) => Promise<Purchase | null>;
  readonly reread: (purchase: Purchase) => Promise<Purchase>;
}

/**
 * Does what a refund that is written down says: its charges first, then the remainder's part. Each of them is done once,
 * by the refund's id, however often this is called.
 */
export function createRefundSteps({ engine, purchases, remainder, report }: PurchaseContext, basics: Basics) {
  /** @returns why not all of it is written down as owed, or null */
  async function refundCharges(
    { id, references }: Refund,
    charges: readonly Charge[],
  ): Promise<string | null> {
    const chosen = charges.filter(({ reference }) => references.includes(reference)).toReversed();
    let fault: string | null = null;
    for (const externalId of new Set(chosen.map((charge) => charge.externalId))) {
      const part = chosen.filter((charge) => charge.externalId === externalId);
      const amountCents = part.reduce((sum, charge) => sum + charge.amountCents, 0);
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
   * Ends the refund in work of a purchase that this caller holds. A part that fails holds back no other.
   *
   * @returns the purchase as it stands: paid again, or refunded where nothing of it is left
   */
  return async function finishRefund(purchase: Purchase, owner: string): Promise<Purchase> {
    const { orderId, attemptId } = purchase;
    const refund = (await purchases.refunds(orderId)).find(({ doneAt }) => doneAt === null);
    let fault: string | null = null;
    if (refund) {
      const { id, number, remainderCents: amountCents } = refund;
      fault = await refundCharges(refund, await basics.chargesOf(purchase));
      const ask = () =>
        remainder.refund(purchase, { id, idempotencyKey: `${attemptId}:${number}`, amountCents });
      if (amountCents > 0) fault = (await basics.askRemainder(purchase, owner, "refund", ask)) ?? fault;
    }
    if (fault !== null)
      return (await basics.putOff(purchase, owner, fault)) ?? (await basics.reread(purchase));
    const to = (await basics.heldCents(purchase)) === 0 ? "refunded" : "paid";
    const done = { from: ["refunding"], to, attemptId, owner, lease: null, isRefundDone: true } as const;
    return (await basics.change(orderId, done)) ?? (await basics.reread(purchase));
  };
}
