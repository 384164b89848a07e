import type { CardBalance, Quote } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { cardGlyph } from "./card-glyph.js";
import type { Wording } from "./wording.js";

/** The input of {@link cardQuote}. */
export interface CardQuoteState {
  words: Wording;
  quote: Quote;
  busy: boolean;
  /** Whether the cart can take another card after this one. */
  takesAnother: boolean;
}

/** Renders a checked card: its balance, how much of it this order would use, and the button that applies it. */
export function cardQuote(state: CardQuoteState, apply: () => void, cancel: () => void): TemplateResult {
  const { words, quote, busy } = state;
  const { texts } = words;
  return cardPanel(
    words,
    quote,
    html`${figure(words, texts.usable, quote.usableCents, "total")}
    ${figure(words, texts.remainder, quote.remainderCents)}`,
    html`${limitNote(state)}
      <p class="hint">${texts.nothingTaken}</p>
      <div class="actions">
        <button part="button apply" id="apply" type="button" class="primary ${busy ? "busy" : ""}" aria-disabled=${busy} @click=${apply}>
          ${busy ? texts.applying : words.fill(texts.apply, { amount: quote.usableCents })}
        </button>
        <button part="button" type="button" class="plain" aria-disabled=${busy} @click=${cancel}>
          ${texts.cancel}
        </button>
      </div>`,
  );
}

/** Renders a card: its last four digits, expiry date and balance, then the caller's own figures and content. */
export function cardPanel(
  words: Wording,
  { lastFour, balanceCents, expiryDate }: CardBalance,
  figures?: TemplateResult,
  content?: TemplateResult,
): TemplateResult {
  const { texts } = words;
  const expiry = words.date(expiryDate);
  return html`<div class="panel" part="quote" role="group" aria-labelledby="quoted">
    <div>
      <p id="quoted" class="name strong">${cardGlyph} ${words.fill(texts.cardEnding, { last4: lastFour })}</p>
      ${expiry ? html`<p class="hint">${words.fill(texts.validUntil, { date: expiry })}</p>` : nothing}
    </div>
    <dl>${figure(words, texts.balance, balanceCents)}${figures}</dl>
    ${content}
  </div>`;
}

/** Renders a term and its amount, side by side. */
export function figure(words: Wording, term: string, cents: number, kind = ""): TemplateResult {
  return html`<div class="row ${kind}"><dt>${term}</dt><dd>${words.money(cents)}</dd></div>`;
}

/** Renders an explanation of the figures above it. */
export function note(text: string): TemplateResult | typeof nothing {
  return text ? html`<p class="note" part="note">${text}</p>` : nothing;
}

/** Explains the limit per card if this limit alone keeps the order from using more. */
function limitNote({ words, quote, takesAnother }: CardQuoteState): TemplateResult | typeof nothing {
  const { limit, limitAnother } = words.texts;
  if (quote.limitedBy !== "limit") return nothing;
  return note(
    words.fill(takesAnother ? `${limit} ${limitAnother}` : limit, {
      limit: quote.usableCents,
      kept: quote.balanceCents - quote.usableCents,
    }),
  );
}
