import type { Action, Charge, ChargeState } from "../store/charge.js";
import { viewCharge } from "./charge-view.js";
import type { FlowContext } from "./context.js";
import type { Evidence } from "./engine.js";
import type { Recovery } from "./recovery.js";

/** The part of the flow that only a person can decide, each action written down with who did it. */
export function createDecisions(context: FlowContext, recovery: Recovery) {
  const { journal, leaseMs } = context;

  async function act(
    reference: string,
    to: ChargeState,
    action: Action,
    actor: string,
    holds = action === "retry",
  ): Promise<Charge | null> {
    const isRetry = action === "retry";
    // A retry holds the charge, so that the recovery job doesn't try at the same time.
    const lease = holds ? { owner: `person:${actor}`, forMs: leaseMs } : null;
    const move = { from: ["needs_attention"], to, lease, ...(isRetry ? {} : { sealedCard: null }) } as const;
    const charge = await journal.act(reference, move, { action, actor });
    if (charge) context.onChange(charge);
    return charge;
  }

  async function evidence(reference: string): Promise<Evidence | null> {
    const charge = await journal.charge(reference);
    if (!charge) return null;
    const [actions, ofCard, tender] = await Promise.all([
      journal.actions(reference),
      journal.chargesOfCard(reference),
      journal.tender(charge.tenderId),
    ]);
    return {
      charge: viewCharge(charge),
      balanceBeforeAt: tender?.createdAt ?? null,
      actions: actions.map(({ reference: _, ...action }) => action),
      otherChargesOfCard: ofCard.filter((other) => other.reference !== reference).map(viewCharge),
    };
  }

  return {
    evidence,
    async retry(reference: string, actor: string): Promise<Charge | null> {
      const charge = await journal.charge(reference);
      if (charge?.state === "reversing") {
        // An owed reversal needs no person's word to be tried, but who tried it is written down.
        const lease = { owner: `person:${actor}`, forMs: leaseMs };
        const move = { from: ["reversing"], to: "reversing", lease } as const;
        const owed = await journal.act(reference, move, { action: "retry", actor });
        return owed && recovery.reverseOwed(owed);
      }
      if (charge?.reason === "outcome_unknown") {
        // The service couldn't end it by its key then. Should it have learnt to meanwhile, it never saw this key, and
        // would say "not done" of a devalue that was: so only the evidence is read anew.
        const asked = await act(reference, "needs_attention", "retry", actor);
        return asked && recovery.readEvidence(asked);
      }
      if (charge?.reason === "refund_differs") {
        // Its token is used up: asked again, the service would say that all is done.
        return act(reference, "needs_attention", "retry", actor, false);
      }
      const again = await act(reference, charge?.sealedToken ? "reversing" : "unknown", "retry", actor);
      if (!again) return null;
      return again.state === "reversing" ? recovery.reverseOwed(again) : recovery.resolveByKey(again);
    },
    markTaken: (reference: string, actor: string) => act(reference, "taken", "mark_taken", actor),
    async markNotTaken(reference: string, actor: string): Promise<Charge | null> {
      const charge = await journal.charge(reference);
      return act(reference, charge?.deductedCents ? "reversed" : "refused", "mark_not_taken", actor);
    },
  };
}
