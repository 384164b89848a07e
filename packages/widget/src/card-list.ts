import type { AppliedCard, CartSummary, ShopErrorCode } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { cardGlyph } from "./card-glyph.js";
import { figure } from "./card-quote.js";
import { keyed } from "./keyed.js";
import type { Wording } from "./wording.js";

/** The input of {@link cardList}. */
export interface CardListState {
  words: Wording;
  summary: CartSummary;
  /** The cart has its maximum number of cards, and there is more to pay. */
  isFull: boolean;
  /** The id of the card that is being removed. */
  removing: string | undefined;
}

/** Renders the applied cards with the amount of each, their total, and the remainder. */
export function cardList(state: CardListState, remove: (card: AppliedCard) => void): TemplateResult {
  const { words, summary } = state;
  const { texts } = words;
  const { remainderCents } = summary;
  // Nothing is certain to be covered by a card that could not be charged.
  const isLeft = remainderCents > 0 || summary.cards.some(({ refusal }) => refusal);
  return html`<div class="panel" part="summary" id="summary" tabindex="-1" role="group" aria-label=${texts.covered}>
    ${
      // If Lit reused a removed card's row for the next card, the focused button would silently get another name.
      keyed(
        summary.cards.length,
        html`<ul part="cards" role="list">
          ${summary.cards.map((card) => cardRow(state, card, remove))}
        </ul>`,
      )
    }
    <dl part="totals">
      ${figure(words, texts.covered, summary.coveredCents)}
      ${figure(words, isLeft ? texts.remainder : texts.nothingLeft, remainderCents, "total")}
    </dl>
    ${
      state.isFull ? html`<p class="hint">${words.fill(texts.maxCards, { count: `${summary.maxCards}` })}</p>` : nothing
    }
  </div>`;
}

function cardRow(state: CardListState, card: AppliedCard, remove: (card: AppliedCard) => void): TemplateResult {
  const { words, removing } = state;
  const { texts } = words;
  const last4 = card.lastFour;
  return html`<li part="card">
    <div class="row">
      <span class="name">${cardGlyph} ${words.fill(texts.cardEnding, { last4 })}</span>
      <span class="amount">
        ${words.money(card.state === "applied" ? card.amountCents : 0)}
        <button
          part="remove"
          type="button"
          class="plain ${removing === card.id ? "busy" : ""}"
          data-remove=${card.id}
          aria-label=${words.fill(texts.removeCard, { last4 })}
          aria-disabled=${removing !== undefined}
          @click=${() => remove(card)}
        >
          ${texts.remove}
        </button>
      </span>
    </div>
    ${card.state === "applied" ? nothing : html`<p class="hint">${texts[card.state]}</p>`}
    ${card.refusal ? html`<p class="error" part="error">${refusalText(words, card, card.refusal)}</p>` : nothing}
  </li>`;
}

function refusalText(words: Wording, { lastFour }: AppliedCard, code: ShopErrorCode): string {
  const { texts } = words;
  const reason = code === "balance_changed" ? texts.changedBalance : texts.errors[code];
  return `${texts.notPlaced} ${words.fill(reason, { last4: lastFour })}`;
}
