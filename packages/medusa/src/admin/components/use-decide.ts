import { toast, usePrompt } from "@medusajs/ui";
import { type ChargeRow, type Decision, useDecision } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { cardName, stateText, takenCents } from "./labels.js";

/** Asks for confirmation, then carries out the decision. The shop records who decided. */
export function useDecide() {
  const texts = useTexts();
  const { t, money } = texts;
  const prompt = usePrompt();
  const { mutateAsync, isPending, variables } = useDecision();
  async function decide(charge: ChargeRow, decision: Decision): Promise<void> {
    const card = cardName(charge.lastFour);
    const about = t("decide.about", { card, amount: money(takenCents(charge)) });
    const isConfirmed =
      // Retrying an owed reversal is always safe.
      (decision === "retry" && charge.state === "reversing") ||
      (await prompt({
        title: t(`decide.${decision}.title`),
        description: `${about} ${t(`decide.${decision}.question`)}`,
        confirmText: t(`decide.${decision}.button`),
        cancelText: t("common.cancel"),
        variant: decision === "retry" ? "confirmation" : "danger",
      }));
    if (!isConfirmed) return;
    const done = await mutateAsync({ reference: charge.reference, decision }).catch(() => null);
    if (done) toast.info(t("decide.done", { card, state: stateText(texts, done.charge.state) }));
  }
  return { decide, pendingReference: isPending ? variables?.reference : undefined };
}
