import type { AppliedCard } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { cardList } from "./card-list.js";
import { note } from "./card-quote.js";
import type { CartCards } from "./cart-cards.js";
import type { Wording } from "./wording.js";

/** Renders the cart as of the shop's last answer: its cards, why it takes no card, and why its figures changed. */
export function cartView(
  words: Wording,
  cards: CartCards,
  isRemoving: boolean,
  remove: (card: AppliedCard) => void,
  orderWithout: () => void,
): TemplateResult {
  const { texts } = words;
  const { summary, quote, isApplied, isClosed, takesCard } = cards;
  return html`${summary?.environment === "sandbox" ? html`<span class="badge" part="badge">${texts.sandbox}</span>` : nothing}
  ${summary && isApplied ? cardList(words, cards, summary, isRemoving, remove, orderWithout) : nothing}
  ${note(summary?.notByCardCents && texts.errors.giftcard_not_payable)}
  ${isApplied || isClosed || takesCard || summary?.notByCardCents ? nothing : html`<p part="covered">${texts.errors.nothing_to_pay}</p>`}
  ${note((isApplied || quote) && changeText(words, cards))}`;
}

/** Returns why the cart's figures changed without the shopper doing anything; an empty text if they did not. */
export function changeText(words: Wording, { before, summary }: CartCards): string {
  const { changedOrder, changedBalance } = words.texts;
  if (!before || !summary) return "";
  if (before.totalCents !== summary.totalCents)
    return words.fill(changedOrder, { before: before.totalCents, total: summary.totalCents });
  const card = summary.cards.find(({ id, balanceCents }) =>
    before.cards.some((earlier) => earlier.id === id && earlier.balanceCents !== balanceCents),
  );
  return card ? words.fill(changedBalance, { last4: card.lastFour }) : "";
}
