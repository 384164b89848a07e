import { viewAttempt } from "./attempt-view.js";
import { createEnding } from "./ending.js";
import type { Evidence } from "./engine.js";
import type { Action, Attempt, AttemptState } from "./journal.js";
import type { MoneyDesk } from "./money-desk.js";

/** The part of the flow that only a person can decide, each action written down with who did it. */
export function createPeople(desk: MoneyDesk) {
  const { journal, leaseMs } = desk;
  const ending = createEnding(desk);

  async function act(
    reference: string,
    to: AttemptState,
    action: Action,
    actor: string,
  ): Promise<Attempt | null> {
    const isRetry = action === "retry";
    // A retry holds the attempt, so that the recovery job doesn't try at the same time.
    const lease = isRetry ? { owner: `person:${actor}`, forMs: leaseMs } : null;
    const move = { from: ["needs_attention"], to, lease, ...(isRetry ? {} : { sealedCard: null }) } as const;
    const attempt = await journal.act(reference, move, { action, actor });
    if (attempt) desk.onChange(attempt);
    return attempt;
  }

  async function evidence(reference: string): Promise<Evidence | null> {
    const attempt = await journal.attempt(reference);
    if (!attempt) return null;
    const [actions, ofCard, tender] = await Promise.all([
      journal.actions(reference),
      journal.attemptsOfCard(reference),
      journal.tender(attempt.tenderId),
    ]);
    return {
      attempt: viewAttempt(attempt),
      balanceBeforeAt: tender?.createdAt ?? null,
      actions: actions.map(({ reference: _, ...action }) => action),
      otherAttemptsOfCard: ofCard.filter((other) => other.reference !== reference).map(viewAttempt),
    };
  }

  return {
    evidence,
    async retry(reference: string, actor: string): Promise<Attempt | null> {
      const attempt = await journal.attempt(reference);
      if (attempt?.state === "reversing") {
        // An owed reversal needs no person's word to be tried, but who tried it is written down.
        const lease = { owner: `person:${actor}`, forMs: leaseMs };
        const move = { from: ["reversing"], to: "reversing", lease } as const;
        const owed = await journal.act(reference, move, { action: "retry", actor });
        return owed && ending.reverseOwed(owed);
      }
      if (attempt?.reason === "outcome_unknown") {
        // The service couldn't end it by its key then. Should it have learnt to meanwhile, it never saw this key, and
        // would say "not done" of a devalue that was: so only the evidence is read anew.
        const asked = await act(reference, "needs_attention", "retry", actor);
        return asked && ending.readEvidence(asked);
      }
      const again = await act(reference, attempt?.sealedToken ? "reversing" : "unknown", "retry", actor);
      if (!again) return null;
      return again.state === "reversing" ? ending.reverseOwed(again) : ending.endByKey(again);
    },
    markTaken: (reference: string, actor: string) => act(reference, "taken", "mark_taken", actor),
    async markNotTaken(reference: string, actor: string): Promise<Attempt | null> {
      const attempt = await journal.attempt(reference);
      return act(reference, attempt?.deductedCents ? "reversed" : "refused", "mark_not_taken", actor);
    },
  };
}
