import { toast, usePrompt } from "@medusajs/ui";
import { type ChargeRow, type Decision, useDecision } from "../client/queries.js";
import { cardName, money, stateTexts } from "./texts.js";

const questions: Record<Decision, { title: string; what: string; confirmText: string; isFinal: boolean }> = {
  retry: {
    title: "Try again?",
    what: "The shop asks the service again. This charges nothing.",
    confirmText: "Try again",
    isFinal: false,
  },
  "mark-taken": {
    title: "Mark as taken?",
    what: "You have found that the card was charged. The shop will not reverse the charge. Settle it with the customer or the card's issuer.",
    confirmText: "Mark as taken",
    isFinal: true,
  },
  "mark-not-taken": {
    title: "Mark as not taken?",
    what: "You have found that nothing was taken, or that it was put back. The card can be used again in its cart.",
    confirmText: "Mark as not taken",
    isFinal: true,
  },
};

/** Asks for confirmation, then carries out the decision. The shop records who decided. */
export function useDecide() {
  const prompt = usePrompt();
  const { mutateAsync, isPending, variables } = useDecision();
  async function decide(charge: ChargeRow, decision: Decision): Promise<void> {
    const { title, what, confirmText, isFinal } = questions[decision];
    const about = `Card ${cardName(charge.lastFour)}, ${money(charge.deductedCents ?? charge.amountCents)}.`;
    const isMeant =
      // Retrying an owed reversal is always safe.
      (decision === "retry" && charge.state === "reversing") ||
      (await prompt({
        title,
        description: `${about} ${what}`,
        confirmText,
        cancelText: "Cancel",
        variant: isFinal ? "danger" : "confirmation",
      }));
    if (!isMeant) return;
    const done = await mutateAsync({ reference: charge.reference, decision }).catch(() => null);
    if (done) toast.info(`Card ${cardName(charge.lastFour)}: ${stateTexts[done.charge.state].label}`);
  }
  return { decide, pendingReference: isPending ? variables?.reference : undefined };
}
