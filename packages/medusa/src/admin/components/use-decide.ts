import { toast, usePrompt } from "@medusajs/ui";
import { type ChargeRow, type Decision, useDecision } from "../client/queries.js";
import { cardName, money, stateTexts } from "./texts.js";

const questions: Record<Decision, { title: string; what: string; confirmText: string; isFinal: boolean }> = {
  retry: {
    title: "Try again?",
    what: "The service is asked again. Nothing is charged by this.",
    confirmText: "Try again",
    isFinal: false,
  },
  "mark-taken": {
    title: "Mark as taken?",
    what: "You have found that the money is off the card. It stays off: this shop will not try to put it back. Settle it with the customer or the card's issuer.",
    confirmText: "Mark as taken",
    isFinal: true,
  },
  "mark-not-taken": {
    title: "Mark as not taken?",
    what: "You have found that nothing was taken, or that it is back on the card. The card can be used again in its cart.",
    confirmText: "Mark as not taken",
    isFinal: true,
  },
};

/** Asks whether it is meant, then does it. The shop writes down who did it. */
export function useDecide() {
  const prompt = usePrompt();
  const { mutateAsync, isPending, variables } = useDecision();
  async function decide(charge: ChargeRow, decision: Decision): Promise<void> {
    const { title, what, confirmText, isFinal } = questions[decision];
    const about = `Card ${cardName(charge.lastFour)}, ${money(charge.deductedCents ?? charge.amountCents)}.`;
    const isMeant =
      // An owed reversal does no harm, however often it is tried.
      (decision === "retry" && charge.state === "reversing") ||
      (await prompt({
        ...{ title, description: `${about} ${what}`, confirmText, cancelText: "Cancel" },
        variant: isFinal ? "danger" : "confirmation",
      }));
    if (!isMeant) return;
    const done = await mutateAsync({ reference: charge.reference, decision }).catch(() => null);
    if (done) toast.info(`Card ${cardName(charge.lastFour)}: ${stateTexts[done.charge.state].label}`);
  }
  return { decide, pendingReference: isPending ? variables?.reference : undefined };
}
