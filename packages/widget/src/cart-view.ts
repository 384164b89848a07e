import type { AppliedCard } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { cardList } from "./card-list.js";
import { note } from "./card-quote.js";
import type { CartCards } from "./cart-cards.js";
import { changeText } from "./change-text.js";
import type { Wording } from "./wording.js";

/** Renders the cart as of the shop's last answer: its cards, why it takes no card, and why its figures changed. */
export function cartView(
  words: Wording,
  cards: CartCards,
  isRemoving: boolean,
  remove: (card: AppliedCard) => void,
): TemplateResult {
  const { texts } = words;
  const { summary, quote, isApplied, isClosed, takesCard } = cards;
  return html`${summary?.environment === "sandbox" ? html`<span class="badge" part="badge">${texts.sandbox}</span>` : nothing}
  ${summary && isApplied ? cardList(words, cards, summary, isRemoving, remove) : nothing}
  ${note(summary?.notByCardCents && texts.errors.giftcard_not_payable)}
  ${isApplied || isClosed || takesCard || summary?.notByCardCents ? nothing : html`<p part="covered">${texts.errors.nothing_to_pay}</p>`}
  ${note((isApplied || quote) && changeText(words, cards))}`;
}
