import type { Quote } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import type { Amounts } from "./amounts.js";
import { fill, type Messages } from "./messages/index.js";

/** What the quote shows. */
export interface CardQuoteState {
  messages: Messages;
  amounts: Amounts;
  quote: Quote;
  busy: boolean;
  /** Whether a further card fits after this one. */
  takesAnother: boolean;
}

/** A checked card: its balance, what this order would use of it, and the step that applies it. */
export function cardQuote(state: CardQuoteState, apply: () => void, cancel: () => void): TemplateResult {
  const { messages, amounts, quote, busy } = state;
  const expiry = amounts.date(quote.expiryDate);
  return html`<div class="panel" part="quote" role="group" aria-labelledby="quoted">
    <div class="row">
      <p id="quoted" class="strong">${fill(messages.cardEnding, { last4: quote.lastFour })}</p>
      ${expiry ? html`<p class="hint">${fill(messages.validUntil, { date: expiry })}</p>` : nothing}
    </div>
    <dl>
      ${figure(messages.balance, amounts.money(quote.balanceCents))}
      ${figure(messages.usable, amounts.money(quote.usableCents), "total")}
      ${figure(messages.remaining, amounts.money(quote.remainingCents))}
    </dl>
    ${limitNote(state)}
    <p class="hint">${messages.nothingTaken}</p>
    <div class="actions">
      <button part="button apply" id="apply" type="button" class="primary grow" aria-disabled=${busy} @click=${apply}>
        ${busy ? messages.applying : fill(messages.apply, { amount: amounts.money(quote.usableCents) })}
      </button>
      <button part="button" type="button" class="plain" aria-disabled=${busy} @click=${cancel}>
        ${messages.cancel}
      </button>
    </div>
  </div>`;
}

/** A term and its figure, side by side. */
export function figure(term: string, amount: string, kind = ""): TemplateResult {
  return html`<div class="row ${kind}"><dt>${term}</dt><dd>${amount}</dd></div>`;
}

/** The limit is explained only when it, and nothing else, keeps the order from using more. */
function limitNote({
  messages,
  amounts,
  quote,
  takesAnother,
}: CardQuoteState): TemplateResult | typeof nothing {
  if (quote.limitedBy !== "limit") return nothing;
  return html`<p class="note" part="note">
    ${fill(takesAnother ? messages.limit : messages.limitLast, {
      limit: amounts.money(quote.usableCents),
      rest: amounts.money(quote.balanceCents - quote.usableCents),
    })}
  </p>`;
}
