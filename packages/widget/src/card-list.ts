import type { AppliedCard, CartSummary } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import type { Amounts } from "./amounts.js";
import { figure } from "./card-quote.js";
import { fill, type Messages } from "./messages/index.js";

/** What the list of applied cards shows. */
export interface CardListState {
  messages: Messages;
  amounts: Amounts;
  summary: CartSummary;
  /** No further card fits although there is more to pay. */
  isFull: boolean;
  /** The id of the card that is being taken off. */
  removing: string | undefined;
}

/** The applied cards with an amount each, what they cover together, and what is left to pay. */
export function cardList(state: CardListState, remove: (card: AppliedCard) => void): TemplateResult {
  const { messages, amounts, summary } = state;
  const { remainingCents } = summary;
  return html`<div class="panel" part="summary" id="summary" tabindex="-1" role="group" aria-label=${messages.covered}>
    ${
      // A row is never turned into another card's row: its button would keep the focus and change its name.
      keyed(
        summary.cards.map((card) => card.id).join(),
        html`<ul part="cards" role="list">
          ${summary.cards.map((card) => cardRow(state, card, remove))}
        </ul>`,
      )
    }
    <dl part="totals">
      ${figure(messages.covered, amounts.money(summary.coveredCents))}
      ${
        remainingCents > 0
          ? figure(messages.remaining, amounts.money(remainingCents), "total")
          : figure(messages.nothingLeft, amounts.money(0), "total")
      }
    </dl>
    ${
      state.isFull
        ? html`<p class="hint">${fill(messages.maxCards, { count: summary.maxCards })}</p>`
        : nothing
    }
  </div>`;
}

function cardRow(
  state: CardListState,
  card: AppliedCard,
  remove: (card: AppliedCard) => void,
): TemplateResult {
  const { messages, amounts, removing } = state;
  const last4 = card.lastFour;
  return html`<li part="card">
    <div class="row">
      <span>${fill(messages.cardEnding, { last4 })}</span>
      <span class="amount">
        ${card.state === "applied" ? amounts.money(card.amountCents) : amounts.money(0)}
        <button
          part="remove"
          type="button"
          class="plain"
          data-remove=${card.id}
          aria-label=${fill(messages.removeCard, { last4 })}
          aria-disabled=${removing !== undefined}
          @click=${() => remove(card)}
        >
          ${removing === card.id ? messages.removing : messages.remove}
        </button>
      </span>
    </div>
    ${card.state === "applied" ? nothing : html`<p class="hint">${messages[card.state]}</p>`}
  </li>`;
}
