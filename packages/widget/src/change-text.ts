import type { CartSummary } from "@giftcard-pay/checkout/storefront";
import type { Wording } from "./wording.js";

/** A cart now, and before its figures changed without the shopper doing anything. */
interface Change {
  readonly before: CartSummary | undefined;
  readonly summary: CartSummary | undefined;
}

/** Returns why the cart's figures changed, for the shopper; an empty text if they did not. */
export function changeText(words: Wording, { before, summary }: Change): string {
  const { changedOrder, changedBalance } = words.texts;
  if (!before || !summary) return "";
  if (before.totalCents !== summary.totalCents)
    return words.fill(changedOrder, { before: before.totalCents, total: summary.totalCents });
  const card = summary.cards.find(({ id, balanceCents }) =>
    before.cards.some((earlier) => earlier.id === id && earlier.balanceCents !== balanceCents),
  );
  return card ? words.fill(changedBalance, { last4: card.lastFour }) : "";
}
