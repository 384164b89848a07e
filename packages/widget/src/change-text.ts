import type { CartSummary } from "@giftcard-pay/checkout/storefront";
import type { Wording } from "./wording.js";

/** A cart as it is, and as it was before its figures changed by themselves. */
interface Change {
  readonly before: CartSummary | undefined;
  readonly summary: CartSummary | undefined;
}

/** Why figures changed by themselves; empty if they didn't. */
export function changeText(words: Wording, { before, summary }: Change): string {
  const { changedOrder, changedBalance } = words.texts;
  if (!before || !summary) return "";
  if (before.totalCents !== summary.totalCents)
    return words.fill(changedOrder, { before: before.totalCents, total: summary.totalCents });
  const card = summary.cards.find(({ id, balanceCents }) =>
    before.cards.some((one) => one.id === id && one.balanceCents !== balanceCents),
  );
  return card ? words.fill(changedBalance, { last4: card.lastFour }) : "";
}
