import type { AppliedCard, CartSummary } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { amount, cardLine, figure, hint, validity } from "./card-quote.js";
import type { CartCards } from "./cart-cards.js";
import { keyed } from "./keyed.js";
import type { Wording } from "./wording.js";

/** Renders the applied cards with the amount of each, and from two cards on their sum. */
export function cardList(
  words: Wording,
  { isFull, mustWait, removing }: CartCards,
  { cards, maxCards, coveredCents, remainderCents }: CartSummary,
  isRemoving: boolean,
  remove: (card: AppliedCard) => void,
  orderWithout: () => void,
): TemplateResult {
  const { texts } = words;
  const minus = (cents: number) => (cents ? "\u2212" : "") + words.money(cents);
  const row = (card: AppliedCard) => {
    const { id, state, lastFour: last4, amountCents, balanceCents, refusal } = card;
    const kept = balanceCents - amountCents;
    const small = kept ? `${words.fill(texts.kept, { kept })}. ${validity(words, card)}` : "";
    const reason = refusal && (refusal === "balance_changed" ? texts.changedBalance : texts.errors[refusal]);
    return html`<li part="card">
      ${cardLine(words, last4, amount(minus(amountCents)))}
      <div class="row">
        ${hint(state === "applied" ? small : texts[state])}
        <button
          part="remove"
          type="button"
          class="plain ${isRemoving && removing?.id === id ? "busy" : ""}"
          data-remove=${id}
          aria-label=${words.fill(texts.removeCard, { last4 })}
          aria-disabled=${isRemoving}
          @click=${() => remove(card)}
        >
          ${texts.remove}
        </button>
      </div>
      ${reason ? html`<p class="error" part="error">${texts.notPlaced} ${words.fill(reason, { last4 })}</p>` : nothing}
    </li>`;
  };
  return html`<div class="panel" part="summary" id="summary" tabindex="-1" role="group" aria-label=${texts.covered}>
    ${
      // If Lit reused a removed card's row for the next card, the focused button would silently get another name.
      keyed(cards.length, html`<ul part="cards" role="list">${cards.map(row)}</ul>`)
    }
    ${cards.length > 1 ? figure(texts.covered, minus(coveredCents), "total") : nothing}
    ${
      mustWait
        ? html`<button part="button without" id="without" type="button" @click=${orderWithout}>
            ${words.fill(texts.without, { amount: remainderCents })}
          </button>`
        : remainderCents
          ? figure(texts.remainder, words.money(remainderCents), "total strong")
          : // Nothing is certain to be covered by a card that could not be charged.
            cards.some(({ refusal }) => refusal)
            ? nothing
            : html`<p class="total strong" part="covered">${texts.nothingLeft}</p>`
    }
    ${isFull ? hint(words.fill(texts.maxCards, { count: `${maxCards}` })) : nothing}
  </div>`;
}
