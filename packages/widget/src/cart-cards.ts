import type { AppliedCard, CardEntry, CartSummary, Quote } from "@giftcard-pay/checkout/storefront";
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { CallError, isClosing, isRetryable } from "./call-errors.js";
import type { Calls } from "./calls.js";
import { dispatch } from "./events.js";
import type { ShopApi } from "./shop-api.js";

/** An element that names its cart. */
interface CartHost extends ReactiveControllerHost, EventTarget {
  readonly cart: string;
}

/**
 * One cart and its gift cards, as the shop told them last. What is typed passes through and isn't kept. It dispatches
 * the events of a cart.
 */
export class CartCards implements ReactiveController {
  summary: CartSummary | undefined;
  quote: Quote | undefined;
  /** The cart before its figures changed by themselves; until the shopper's next step. */
  before: CartSummary | undefined;
  /** The card that is being taken off, or that couldn't be. */
  removing: AppliedCard | undefined;
  /** Whether the shop has answered, whatever it said. */
  isAnswered = false;

  #loading = new AbortController();

  constructor(
    private readonly host: CartHost,
    private readonly calls: Calls,
    private readonly shop: ShopApi,
  ) {
    host.addController(this);
  }

  /** Whether the cart has something to pay and room for a card; assumed until the shop has answered. */
  get takesCard(): boolean {
    return this.#room > 0 && !this.isClosed;
  }

  /** Whether the shop said last that the cart is placed, gone, or in another currency. */
  get isClosed(): boolean {
    return isClosing(this.calls.error);
  }

  /** Whether a card would fit after the one that is quoted. */
  get takesAnother(): boolean {
    const { quote, summary } = this;
    return (!quote || quote.remainderCents > (summary?.notByCardCents ?? 0)) && this.#room > 1;
  }

  /** Whether the cards, and not the amount, keep the cart from taking another. */
  get isFull(): boolean {
    return !!this.summary && openCents(this.summary) > 0 && this.#room <= 0;
  }

  /** Whether the cards pay all of it. */
  get isCovered(): boolean {
    return !!this.summary && isCovered(this.summary);
  }

  /** Whether the cart has a card. */
  get isApplied(): boolean {
    return !!this.summary && this.summary.cards.length > 0;
  }

  /** How many more cards fit, if anything is left that a card may pay. An expired one counts for nothing. */
  get #room(): number {
    const { summary } = this;
    if (!summary) return 2;
    return (
      openCents(summary) && summary.maxCards - summary.cards.filter((card) => card.state !== "expired").length
    );
  }

  hostDisconnected(): void {
    this.#loading.abort();
  }

  /** Forgets everything, for another cart. */
  reset(): void {
    this.#loading.abort();
    this.calls.reset();
    this.summary = this.quote = this.before = this.removing = undefined;
    this.isAnswered = false;
  }

  /**
   * Asks for the cart. A change under way is waited for, so that an older answer never covers a newer one.
   * @param isQuiet nobody asked for it, so that a failure that passes isn't told
   * @returns whether figures that the shopper had seen have changed
   */
  async load(isQuiet = false): Promise<boolean> {
    await this.calls.settled;
    this.#loading.abort();
    const { signal } = (this.#loading = new AbortController());
    try {
      const summary = await this.shop.summary(this.host.cart, signal);
      return !signal.aborted && this.#reload(summary);
    } catch (error) {
      const passes = isQuiet && isRetryable((error as CallError).code);
      if (!signal.aborted && !passes) this.calls.fail("load", error);
      return false;
    } finally {
      if (!signal.aborted) this.isAnswered = true;
    }
  }

  /** Asks what a card holds, and what the order would use of it. Undefined if that failed. */
  async fetchQuote(entry: CardEntry): Promise<Quote | undefined> {
    const quote = await this.calls.run("quote", (signal) => this.shop.quote(this.host.cart, entry, signal));
    if (quote) {
      this.quote = quote;
      this.before = undefined;
    }
    return quote;
  }

  /** Applies the quoted card. Undefined if that failed; where the shop refused the quote, it is gone. */
  async apply(): Promise<AppliedCard | undefined> {
    const { quote, calls } = this;
    if (!quote) return undefined;
    const { quoteId: _, ...shown } = quote;
    if (!dispatch(this.host, "giftcard-before-apply", { quote: shown, summary: this.summary }))
      return undefined;
    const known = new Set(this.summary?.cards.map((card) => card.id));
    // A loaded cart would be older than what this call answers.
    this.#loading.abort();
    const summary = await calls.run("apply", (signal) => this.#applyOnce(quote, known, signal));
    const code = calls.error?.code;
    if (summary) {
      this.quote = this.before = undefined;
      this.#accept(summary);
      const card = newCard(summary, quote, known) ?? summary.cards.at(-1);
      if (card) dispatch(this.host, "giftcard-applied", { card, summary });
      return card;
    }
    if (code && !isRetryable(code)) this.quote = undefined;
    return undefined;
  }

  /** Takes a card off. False if that failed. */
  async remove(card: AppliedCard): Promise<boolean> {
    this.removing = card;
    this.#loading.abort();
    const summary = await this.calls.run("remove", (signal) =>
      this.shop.remove(this.host.cart, card.id, signal),
    );
    if (!summary) return false;
    this.removing = this.before = undefined;
    this.#accept(summary);
    dispatch(this.host, "giftcard-removed", { card, summary });
    return true;
  }

  /**
   * A refusal may only mean that the card is applied already: an earlier answer was lost, or the browser, which
   * repeats a call by itself where a kept connection breaks, asked twice. So look before believing it.
   */
  async #applyOnce(quote: Quote, known: ReadonlySet<string>, signal: AbortSignal): Promise<CartSummary> {
    const { shop } = this;
    const { cart } = this.host;
    try {
      return await shop.apply(cart, quote.quoteId, signal);
    } catch (error) {
      if (!(error instanceof CallError) || isRetryable(error.code)) throw error;
      const summary = await shop.summary(cart, signal).catch(() => undefined);
      if (summary && newCard(summary, quote, known)) return summary;
      throw error;
    }
  }

  #reload(summary: CartSummary): boolean {
    const { summary: before, quote, calls } = this;
    if (calls.error?.action === "load" || this.isClosed) calls.error = undefined;
    const changed = this.#accept(summary) && !!before;
    if (changed) this.before = before;
    if (quote && !calls.busy) this.quote = requote(quote, summary);
    return changed;
  }

  /** Takes over what the shop said. Returns whether a figure differs from before. */
  #accept(summary: CartSummary): boolean {
    const before = this.summary;
    this.summary = summary;
    this.host.requestUpdate();
    const { totalCents, coveredCents, remainderCents } = summary;
    if (
      before?.totalCents === totalCents &&
      before.coveredCents === coveredCents &&
      before.remainderCents === remainderCents
    )
      return false;
    const covered = isCovered(summary);
    dispatch(this.host, "giftcard-total", { totalCents, coveredCents, remainderCents, covered, summary });
    return true;
  }
}

/** What is left to pay, and a card may pay. */
function openCents({ remainderCents, notByCardCents = 0 }: CartSummary): number {
  return remainderCents - notByCardCents;
}

/** What a quoted card would pay of a cart that changed since; undefined where there is nothing left for it to pay. */
function requote(quote: Quote, summary: CartSummary): Quote | undefined {
  const { balanceCents } = quote;
  const { remainderCents, maxPerCardCents } = summary;
  const leftCents = openCents(summary);
  const usableCents = Math.min(leftCents, balanceCents, maxPerCardCents);
  if (usableCents === 0) return undefined;
  const limitedBy = usableCents === leftCents ? "order" : usableCents === balanceCents ? "balance" : "limit";
  return { ...quote, usableCents, limitedBy, remainderCents: remainderCents - usableCents };
}

function isCovered({ remainderCents, coveredCents }: CartSummary): boolean {
  return remainderCents === 0 && coveredCents > 0;
}

function newCard(summary: CartSummary, quote: Quote, known: ReadonlySet<string>): AppliedCard | undefined {
  return summary.cards.find((card) => card.lastFour === quote.lastFour && !known.has(card.id));
}
