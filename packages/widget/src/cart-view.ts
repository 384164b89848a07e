import type { AppliedCard } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { cardList } from "./card-list.js";
import { note } from "./card-quote.js";
import type { CartCards } from "./cart-cards.js";
import { changeText } from "./change-text.js";
import type { Wording } from "./wording.js";

/** What the cart view shows. */
export interface CartViewState {
  words: Wording;
  cards: CartCards;
  /** A card is being taken off. */
  busy: boolean;
}

/** The cart as the shop told it last: its cards, whether it takes any, and why its figures changed. */
export function cartView(state: CartViewState, remove: (card: AppliedCard) => void): TemplateResult {
  const { words, cards, busy } = state;
  const { texts } = words;
  const { summary, quote, isApplied, isClosed, isFull, takesCard, removing } = cards;
  return html`${summary?.environment === "sandbox" ? html`<span class="badge">${texts.sandbox}</span>` : nothing}
  ${
    summary && isApplied
      ? cardList({ words, summary, isFull, removing: busy ? removing?.id : undefined }, remove)
      : nothing
  }
  ${note(summary?.notByCardCents ? texts.errors.giftcard_not_payable : "")}
  ${isApplied || isClosed || takesCard || summary?.notByCardCents ? nothing : html`<p>${texts.errors.nothing_to_pay}</p>`}
  ${isApplied || quote ? note(changeText(words, cards)) : nothing}`;
}
