import type { AppliedCard } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { cardList } from "./card-list.js";
import { note } from "./card-quote.js";
import type { CartCards } from "./cart-cards.js";
import { changeText } from "./change-text.js";
import type { Wording } from "./wording.js";

/** The input of {@link cartView}. */
export interface CartViewState {
  words: Wording;
  cards: CartCards;
  /** A card is being removed. */
  isRemoving: boolean;
}

/** Renders the cart as of the shop's last answer: its cards, why it takes no card, and why its figures changed. */
export function cartView(state: CartViewState, remove: (card: AppliedCard) => void): TemplateResult {
  const { words, cards, isRemoving } = state;
  const { texts } = words;
  const { summary, quote, isApplied, isClosed, isFull, takesCard, removing } = cards;
  return html`${summary?.environment === "sandbox" ? html`<span class="badge" part="badge">${texts.sandbox}</span>` : nothing}
  ${
    summary && isApplied
      ? cardList({ words, summary, isFull, removing: isRemoving ? removing?.id : undefined }, remove)
      : nothing
  }
  ${note(summary?.notByCardCents ? texts.errors.giftcard_not_payable : "")}
  ${isApplied || isClosed || takesCard || summary?.notByCardCents ? nothing : html`<p part="covered">${texts.errors.nothing_to_pay}</p>`}
  ${isApplied || quote ? note(changeText(words, cards)) : nothing}`;
}
