import { randomUUID } from "node:crypto";
import type { Charge } from "../store/charge.js";
import { chargedStates } from "../store/charge-states.js";
import { type FlowContext, moveAndTell, referencesOf } from "./context.js";
import type { Engine } from "./engine.js";
import { CheckoutError, refundNotPossible } from "./errors.js";
import { insist } from "./late-writes.js";
import type { Recovery } from "./recovery.js";
import { type OpenCharge, planRefund } from "./refund-plan.js";

/** It went back already, or does. */
const isBack = ({ state }: Charge) => state === "reversing" || state === "reversed";
const isCharged = ({ state }: Charge) => chargedStates.includes(state);

const sum = (charges: readonly Charge[]) =>
  charges.reduce((cents, { amountCents }) => cents + amountCents, 0);

/** What a plan needs to know of a charge. */
export const toOpenCharge = ({ reference, lastFour, amountCents, pieces }: Charge): OpenCharge => ({
  reference,
  lastFour,
  cents: amountCents,
  pieces,
});

/** The part of the flow that gives a part of a payment back. */
export function createRefunds(context: FlowContext, recovery: Recovery): Pick<Engine, "refund"> {
  const { journal, leaseMs } = context;
  const { move, moveAll } = moveAndTell(context);

  /**
   * The charges that make up this sum: all that are left, where that is the sum, also those that a person has to decide
   * about; else those that can go back, and first those that are back already.
   */
  function choose(left: readonly Charge[], amountCents: number): Charge[] {
    if (sum(left) === amountCents) return [...left];
    const candidates = [...left.filter(isCharged), ...left.filter(isBack)];
    const plan = planRefund({ amountCents, charges: candidates.map(toOpenCharge), otherCents: 0 });
    if (!plan.isPossible)
      throw refundNotPossible(amountCents, sum(candidates), {
        possibleCents: plan.nearest.map((split) => split.amountCents),
      });
    const chosen = new Set(plan.split.charges.map(({ reference }) => reference));
    return candidates.filter(({ reference }) => chosen.has(reference));
  }

  /** It is owed already: a failure is recovery's, and none of the caller's. */
  const reverse = (charge: Charge): Promise<Charge> =>
    recovery.reverseOwed(charge).catch((error: unknown) => {
      context.report(error);
      return charge;
    });

  return {
    async refund(externalId, { id, amountCents, references, booked }) {
      await context.lateWrites.flush();
      // A charge that went back for a refund which the shop doesn't have (any more) is back, and not booked.
      const isLeft = ({ reference, refundId }: Charge) =>
        (refundId === null || (refundId !== id && booked !== undefined && !booked.includes(refundId))) &&
        (references === undefined || references.includes(reference));
      for (;;) {
        const charges = await insist(() => journal.chargesOfPayment(externalId));
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
        // One of them has changed at this very moment: what is there is looked at again.
        if (open.length > 0 && !(await insist(() => moveAll(referencesOf(open), owed)))) continue;
        for (const { reference, state, refundId } of chosen.filter((charge) => !isCharged(charge)))
          await insist(() =>
            move(reference, { from: [state], to: state, refundId: id, refundIdWas: refundId }),
          );
      }
    },
  };
}
