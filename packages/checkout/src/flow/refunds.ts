import { randomUUID } from "node:crypto";
import { CheckoutError, RefundError } from "../errors.js";
import { chargedStates } from "../store/charge-states.js";
import type { Charge } from "../store/journal.js";
import { type FlowContext, moveAndTell, referencesOf } from "./context.js";
import type { Engine } from "./engine.js";
import { insist } from "./late-writes.js";
import type { Recovery } from "./recovery.js";
import { type OpenCharge, planRefund } from "./refund-plan.js";

/** It went back already, and no refund is written down for it: a reversal that the shop's books don't know of yet. */
const isBack = ({ state, refundId }: Charge) =>
  refundId === null && (state === "reversing" || state === "reversed");

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

  /** The charges that make up this sum; those that are back already come first. */
  function choose(charges: readonly Charge[], amountCents: number, references?: readonly string[]): Charge[] {
    const isNamed = ({ reference }: Charge) => references === undefined || references.includes(reference);
    const open = charges.filter(({ state }) => chargedStates.includes(state));
    const candidates = [...open, ...charges.filter(isBack)].filter(isNamed);
    const plan = planRefund({ amountCents, charges: candidates.map(toOpenCharge), otherCents: 0 });
    if (!plan.isPossible)
      throw new RefundError(
        amountCents,
        plan.nearest.map((split) => split.amountCents),
      );
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
    async refund(externalId, { id, amountCents, references }) {
      await context.lateWrites.flush();
      for (;;) {
        const charges = await insist(() => journal.chargesOfPayment(externalId));
        if (charges.length === 0) throw new CheckoutError("applied_card_not_found");
        const own = charges.filter(({ refundId }) => refundId === id);
        const leftCents = amountCents - sum(own);
        if (leftCents < 0) throw new RefundError(amountCents, [sum(own)]);
        if (leftCents === 0) {
          const now: Charge[] = [];
          for (const charge of own) now.push(charge.state === "reversing" ? await reverse(charge) : charge);
          return now;
        }
        const chosen = choose(charges, leftCents, references);
        const lease = { owner: randomUUID(), forMs: leaseMs };
        const owed = {
          from: chargedStates,
          to: "reversing",
          reason: "refunded",
          refundId: id,
          lease,
        } as const;
        const open = chosen.filter((charge) => !isBack(charge));
        // One of them has changed at this very moment: what is there is looked at again.
        if (open.length > 0 && !(await insist(() => moveAll(referencesOf(open), owed)))) continue;
        for (const { reference, state } of chosen.filter(isBack))
          await insist(() => move(reference, { from: [state], to: state, refundId: id }));
      }
    },
  };
}
