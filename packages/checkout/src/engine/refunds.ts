import { randomUUID } from "node:crypto";
import type { Charge } from "../store/charge.js";
import { chargedStates } from "../store/charge-states.js";
import type { Recovery } from "./charge-recovery.js";
import { type EngineContext, moveAndAnnounce, referencesOf } from "./context.js";
import type { Engine } from "./engine.js";
import { CheckoutError, refundNotPossible } from "./errors.js";
import { retryUntilWritten } from "./late-writes.js";
import { type OpenCharge, planRefund } from "./refund-plan.js";

/** Whether the charge is reversed, or its reversal is owed. */
const isReversing = ({ state }: Charge) => state === "reversing" || state === "reversed";
const isCharged = ({ state }: Charge) => chargedStates.includes(state);

const sum = (charges: readonly Charge[]) => charges.reduce((cents, { amountCents }) => cents + amountCents, 0);

/** Returns the part of a charge that a refund is planned with. */
export const toOpenCharge = ({ reference, lastFour, amountCents, pieces }: Charge): OpenCharge => ({
  reference,
  lastFour,
  cents: amountCents,
  pieces,
});

/** Refunds parts of a payment. */
export function createRefunds(context: EngineContext, recovery: Recovery): Pick<Engine, "refund"> {
  const { journal, leaseMs } = context;
  const { move, moveAll } = moveAndAnnounce(context);

  /**
   * Chooses charges that add up to an amount. If that is all that is left, it includes charges that need a person's
   * decision. Otherwise it prefers charges that are reversed already.
   */
  function choose(left: readonly Charge[], amountCents: number): Charge[] {
    if (sum(left) === amountCents) return [...left];
    const candidates = [...left.filter(isCharged), ...left.filter(isReversing)];
    const plan = planRefund({ amountCents, charges: candidates.map(toOpenCharge), remainderCents: 0 });
    if (!plan.isPossible)
      throw refundNotPossible(amountCents, sum(candidates), {
        possibleCents: plan.nearest.map((split) => split.amountCents),
      });
    const chosen = new Set(plan.split.charges.map(({ reference }) => reference));
    return candidates.filter(({ reference }) => chosen.has(reference));
  }

  /** Tries an owed reversal. If it fails, recovery retries it, and the refund still succeeds. */
  const reverse = (charge: Charge): Promise<Charge> =>
    recovery.reverseOwed(charge).catch((error: unknown) => {
      context.report(error);
      return charge;
    });

  return {
    async refund(externalId, { id, amountCents, references, booked }) {
      await context.lateWrites.flush();
      // A charge that was reversed for a refund which the shop doesn't have can be taken for this refund.
      const isLeft = ({ reference, refundId }: Charge) =>
        (refundId === null || (refundId !== id && booked !== undefined && !booked.includes(refundId))) &&
        (references === undefined || references.includes(reference));
      for (;;) {
        const charges = await retryUntilWritten(() => journal.chargesOfPayment(externalId));
        if (charges.length === 0) throw new CheckoutError("applied_card_not_found");
        const own = charges.filter(({ refundId }) => refundId === id);
        const leftCents = amountCents - sum(own);
        if (leftCents < 0) throw refundNotPossible(amountCents, sum(own), { possibleCents: [sum(own)] });
        if (leftCents === 0) {
          const now: Charge[] = [];
          for (const charge of own) now.push(charge.state === "reversing" ? await reverse(charge) : charge);
          return now;
        }
        const chosen = choose(charges.filter(isLeft), leftCents);
        const lease = { owner: randomUUID(), forMs: leaseMs };
        const owed = {
          from: chargedStates,
          to: "reversing",
          reason: "refunded",
          refundId: id,
          lease,
        } as const;
        const open = chosen.filter(isCharged);
        // If one of them has changed concurrently, read and choose again.
        if (open.length > 0 && !(await retryUntilWritten(() => moveAll(referencesOf(open), owed)))) continue;
        for (const { reference, state, refundId } of chosen.filter((charge) => !isCharged(charge)))
          await retryUntilWritten(() =>
            move(reference, { from: [state], to: state, refundId: id, refundIdWas: refundId }),
          );
      }
    },
  };
}
