import type { AppliedCard, CardEntry, CartSummary, Quote } from "@giftcard-pay/checkout/storefront";
import { isPassing } from "./faults.js";
import { type ShopApi, ShopFault } from "./shop-api.js";
import { ShopCalls } from "./shop-calls.js";

/**
 * One cart and its gift cards: what the shop said last, the call under way, and what went wrong. What is typed passes
 * through and isn't kept.
 */
export class CardSession extends ShopCalls {
  summary: CartSummary | undefined;
  quote: Quote | undefined;
  /** The cart before its figures changed by themselves; until the shopper's next step. */
  before: CartSummary | undefined;
  /** The card that is being taken off, or that couldn't be. */
  removing: AppliedCard | undefined;

  #loading = new AbortController();

  /** Whether the cart has something to pay and room for a card; assumed until the shop has answered. */
  get takesCard(): boolean {
    return this.#room > 0;
  }

  /** Whether a card would fit after the one that is quoted. */
  get takesAnother(): boolean {
    return this.quote?.remainingCents !== 0 && this.#room > 1;
  }

  /** Whether the cards, and not the amount, keep the cart from taking another. */
  get isFull(): boolean {
    return !!this.summary?.remainingCents && !this.takesCard;
  }

  /** Whether the cards pay all of it. */
  get isCovered(): boolean {
    return !!this.summary && isCovered(this.summary);
  }

  /** How many more cards fit, if anything is left to pay. An expired one counts for nothing. */
  get #room(): number {
    const { summary } = this;
    if (!summary) return 2;
    return (
      summary.remainingCents &&
      summary.maxCards - summary.cards.filter((card) => card.state !== "expired").length
    );
  }

  override hostDisconnected(): void {
    super.hostDisconnected();
    this.#loading.abort();
  }

  /** Forgets everything, for another cart. */
  reset(): void {
    this.hostDisconnected();
    this.wait.stop();
    this.summary = this.quote = this.before = this.fault = this.removing = undefined;
  }

  /**
   * Asks for the cart. A change under way is waited for, so that an older answer never covers a newer one.
   * @returns whether figures that the shopper had seen have changed
   */
  async load(): Promise<boolean> {
    await this.settled;
    this.#loading.abort();
    const { signal } = (this.#loading = new AbortController());
    try {
      const summary = await this.api.summary(signal);
      return !signal.aborted && this.#reload(summary);
    } catch (error) {
      if (!signal.aborted) this.fail("load", error);
      return false;
    }
  }

  /** Asks what a card holds. Undefined if that failed; {@link fault} says why. */
  async check(entry: CardEntry): Promise<Quote | undefined> {
    const quote = await this.perform("quote", (api, signal) => api.quote(entry, signal));
    if (quote) {
      this.quote = quote;
      this.before = undefined;
    }
    return quote;
  }

  /** Applies the quoted card. Undefined if that failed; where the shop refused the quote, it is gone. */
  async apply(): Promise<AppliedCard | undefined> {
    const { quote } = this;
    if (!quote) return undefined;
    const { quoteId: _, ...shown } = quote;
    if (!this.tell("giftcard-pay:before-apply", { quote: shown, summary: this.summary })) return undefined;
    const known = new Set(this.summary?.cards.map((card) => card.id));
    // A loaded cart would be older than what this call answers.
    this.#loading.abort();
    const summary = await this.perform("apply", (api, signal) => applyOnce(api, quote, known, signal));
    const code = this.fault?.code;
    if (summary) {
      this.quote = this.before = undefined;
      this.#accept(summary);
      const card = newCard(summary, quote, known) ?? summary.cards.at(-1);
      if (card) this.tell("giftcard-pay:applied", { card, summary });
      return card;
    }
    if (code && !isPassing(code)) this.quote = undefined;
    return undefined;
  }

  /** Takes a card off. False if that failed. */
  async remove(card: AppliedCard): Promise<boolean> {
    if (this.busy) return false;
    this.removing = card;
    this.#loading.abort();
    const summary = await this.perform("remove", (api, signal) => api.remove(card.id, signal));
    if (!summary) return false;
    this.removing = this.before = undefined;
    this.#accept(summary);
    this.tell("giftcard-pay:removed", { card, summary });
    return true;
  }

  #reload(summary: CartSummary): boolean {
    const { summary: before, quote } = this;
    if (this.fault?.action === "load") this.fault = undefined;
    const changed = this.#accept(summary) && !!before;
    if (changed) this.before = before;
    if (quote && !this.busy) this.quote = requote(quote, summary);
    return changed;
  }

  /** Takes over what the shop said. Returns whether a figure differs from before. */
  #accept(summary: CartSummary): boolean {
    const before = this.summary;
    this.summary = summary;
    this.host.requestUpdate();
    const { totalCents, coveredCents, remainingCents } = summary;
    if (
      before?.totalCents === totalCents &&
      before.coveredCents === coveredCents &&
      before.remainingCents === remainingCents
    )
      return false;
    const covered = isCovered(summary);
    this.tell("giftcard-pay:total", { totalCents, coveredCents, remainingCents, covered, summary });
    return true;
  }
}

/**
 * A refusal may only mean that the card is applied already: an earlier answer was lost, or the browser, which
 * repeats a call by itself where a kept connection breaks, asked twice. So look before believing it.
 */
async function applyOnce(
  api: ShopApi,
  quote: Quote,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<CartSummary> {
  try {
    return await api.apply(quote.quoteId, signal);
  } catch (error) {
    if (!(error instanceof ShopFault) || isPassing(error.code)) throw error;
    const summary = await api.summary(signal).catch(() => undefined);
    if (summary && newCard(summary, quote, known)) return summary;
    throw error;
  }
}

/** What a quoted card would pay of a cart that changed since; undefined where there is nothing left for it to pay. */
function requote(quote: Quote, { remainingCents, maxPerCardCents }: CartSummary): Quote | undefined {
  const { balanceCents } = quote;
  const usableCents = Math.min(remainingCents, balanceCents, maxPerCardCents);
  if (usableCents === 0) return undefined;
  const limitedBy =
    usableCents === remainingCents ? "order" : usableCents === balanceCents ? "balance" : "limit";
  return { ...quote, usableCents, limitedBy, remainingCents: remainingCents - usableCents };
}

function isCovered({ remainingCents, coveredCents }: CartSummary): boolean {
  return remainingCents === 0 && coveredCents > 0;
}

function newCard(summary: CartSummary, quote: Quote, known: ReadonlySet<string>): AppliedCard | undefined {
  return summary.cards.find((card) => card.lastFour === quote.lastFour && !known.has(card.id));
}
