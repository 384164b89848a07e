import type { AppliedCard, CartSummary } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { cardLine, figure, validity } from "./card-quote.js";
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

/** Renders the applied cards with the amount of each, and from two cards on their sum. */
export function cardList(state: CardListState, remove: (card: AppliedCard) => void): TemplateResult {
  const { words, summary } = state;
  const { texts } = words;
  const { cards } = summary;
  // Nothing is certain to be covered by a card that could not be charged.
  const isCovered = !summary.remainderCents && !cards.some(({ refusal }) => refusal);
  return html`<div class="panel" part="summary" id="summary" tabindex="-1" role="group" aria-label=${texts.covered}>
    ${
      // If Lit reused a removed card's row for the next card, the focused button would silently get another name.
      keyed(
        cards.length,
        html`<ul part="cards" role="list">
          ${cards.map((card) => cardRow(state, card, remove))}
        </ul>`,
      )
    }
    ${cards.length > 1 ? figure(texts.covered, minus(words, summary.coveredCents), "total") : nothing}
    ${isCovered ? html`<p class="strong" part="covered">${texts.nothingLeft}</p>` : nothing}
    ${
      state.isFull
        ? html`<p class="hint" part="hint">${words.fill(texts.maxCards, { count: `${summary.maxCards}` })}</p>`
        : nothing
    }
  </div>`;
}

function cardRow(state: CardListState, card: AppliedCard, remove: (card: AppliedCard) => void): TemplateResult {
  const { words, removing } = state;
  const { texts } = words;
  const { lastFour: last4, amountCents, refusal } = card;
  const kept = card.balanceCents - amountCents;
  const left = kept > 0 ? [words.fill(texts.kept, { kept }), validity(words, card)].join("\n").trim() : "";
  const reason = refusal && (refusal === "balance_changed" ? texts.changedBalance : texts.errors[refusal]);
  return html`<li part="card">
    ${cardLine(words, last4, minus(words, amountCents))}
    <div class="row">
      <p class="hint" part="hint">${card.state === "applied" ? left : texts[card.state]}</p>
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
    </div>
    ${reason ? html`<p class="error" part="error">${texts.notPlaced} ${words.fill(reason, { last4 })}</p>` : nothing}
  </li>`;
}

/** Formats what a card pays. */
function minus(words: Wording, cents: number): string {
  return `${cents ? "\u2212" : ""}${words.money(cents)}`;
}
