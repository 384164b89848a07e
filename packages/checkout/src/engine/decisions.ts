import type { Action, Charge, ChargeState } from "../store/charge.js";
import type { Recovery } from "./charge-recovery.js";
import { viewCharge } from "./charge-view.js";
import type { EngineContext } from "./context.js";
import type { Evidence } from "./engine.js";

/** Carries out the decisions of people about charges, and records who decided. */
export function createDecisions(context: EngineContext, recovery: Recovery) {
  const { journal, leaseMs } = context;

  async function act(
    reference: string,
    to: ChargeState,
    action: Action,
    actor: string,
    takesLease = action === "retry",
  ): Promise<Charge | null> {
    const isRetry = action === "retry";
    // A retry takes the lease, so that the recovery job doesn't try at the same time.
    const lease = takesLease ? { owner: `person:${actor}`, forMs: leaseMs } : null;
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
        // An owed reversal needs no decision, but the person who retried it is recorded.
        const lease = { owner: `person:${actor}`, forMs: leaseMs };
        const move = { from: ["reversing"], to: "reversing", lease } as const;
        const owed = await journal.act(reference, move, { action: "retry", actor });
        return owed && recovery.reverseOwed(owed);
      }
      if (charge?.reason === "outcome_unknown") {
        // The service could not resolve it by its key then. If it supports keys by now, it never saw this one, and
        // would report a devalue that took money as not done. So only read the balance again.
        const asked = await act(reference, "needs_attention", "retry", actor);
        return asked && recovery.readEvidence(asked);
      }
      if (charge?.reason === "refund_differs") {
        // Its token is used up: a retry would be told that all is reversed.
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
