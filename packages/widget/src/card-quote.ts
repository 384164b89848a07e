import type { CardBalance } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type TemplateResult } from "lit";
import { cardGlyph } from "./card-glyph.js";
import type { QuoteDetail } from "./events.js";
import type { Wording } from "./wording.js";

/** Renders a checked card: its balance, what this order leaves to pay, and the button that applies it. */
export function cardQuote(
  words: Wording,
  quote: QuoteDetail["quote"],
  busy: boolean,
  apply: () => void,
  cancel: () => void,
): TemplateResult {
  const { texts } = words;
  const { usableCents, balanceCents } = quote;
  const kept = balanceCents - usableCents;
  const limit = quote.limitedBy === "limit" ? `${texts.limit} ` : "";
  return cardPanel(
    words,
    quote,
    html`${figure(texts.remainder, words.money(quote.remainderCents), "strong")}
      ${note(kept && words.fill(`${limit}${texts.kept}.`, { limit: usableCents, kept }))}
      <div class="actions" part="actions">
        <button part="button apply" id="apply" type="button" class="primary ${busy ? "busy" : ""}" aria-disabled=${busy} @click=${apply}>
          ${words.fill(texts.apply, { amount: usableCents })}
        </button>
        <button part="button cancel" type="button" class="plain" aria-disabled=${busy} @click=${cancel}>
          ${texts.cancel}
        </button>
      </div>
      ${hint(texts.nothingTaken)}`,
  );
}

/** Renders a card with its balance and expiry date, then the caller's own content. */
export function cardPanel(
  words: Wording,
  card: Omit<CardBalance, "currency">,
  content?: TemplateResult,
): TemplateResult {
  const { lastFour, balanceCents } = card;
  const { texts } = words;
  return html`<div class="panel" part="quote" role="group" aria-label=${words.fill(texts.cardEnding, { last4: lastFour })}>
    <div>
      ${cardLine(
        words,
        lastFour,
        // In a quote, the amount that it leaves to pay is the decision.
        html`<span>
          <span class="hint">${texts.balance}</span> ${amount(words.money(balanceCents), content ? "" : "strong")}
        </span>`,
      )}
      ${hint(validity(words, card))}
    </div>
    ${content}
  </div>`;
}

/** Renders an amount. */
export function amount(text: string, kind = "strong"): TemplateResult {
  return html`<span class="amount ${kind}" part="amount">${text}</span>`;
}

/** Renders a card's last four digits and what it has or pays, side by side. */
export function cardLine(words: Wording, last4: string, part: TemplateResult): TemplateResult {
  return html`<div class="row">
    <span class="name" part="name" aria-hidden="true">${cardGlyph}•••• ${last4}</span>
    <span class="silent">${words.fill(words.texts.cardEnding, { last4 })}</span>
    ${part}
  </div>`;
}

/** Returns until when a card is valid; an empty text if that is unknown. */
export function validity(words: Wording, { expiryDate }: { expiryDate: string }): string {
  const date = words.date(expiryDate);
  return date && words.fill(words.texts.validUntil, { date });
}

/** Renders small print. */
export function hint(text: string): TemplateResult {
  return html`<p class="hint" part="hint">${text}</p>`;
}

/** Renders a term and its amount, side by side. */
export function figure(term: string, amount: string, kind = ""): TemplateResult {
  return html`<dl class="row ${kind}" part="figure"><dt>${term}</dt><dd part="amount">${amount}</dd></dl>`;
}

/** Renders an explanation of the figures above it. */
export function note(text: unknown): TemplateResult | typeof nothing {
  return text ? html`<p class="note" part="note">${text}</p>` : nothing;
}
