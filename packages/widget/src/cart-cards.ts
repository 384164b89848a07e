import type { AppliedCard, CardEntry, CartSummary } from "@giftcard-pay/checkout/storefront";
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { CallError, isClosing, isRetryable } from "./call-errors.js";
import type { Calls } from "./calls.js";
import { dispatch, type QuoteDetail } from "./events.js";
import type { ShopApi } from "./shop-api.js";

/** An element with the id of its cart. */
interface CartHost extends ReactiveControllerHost, EventTarget {
  readonly cart: string;
}

/**
 * A cart and its gift cards, as of the shop's last response. It dispatches the cart's events, and stores no card number
 * and no PIN.
 */
export class CartCards implements ReactiveController {
  summary: CartSummary | undefined;
  quote: QuoteDetail["quote"] | undefined;
  /** The cart before its figures changed without the shopper doing anything. Cleared by the shopper's next step. */
  before: CartSummary | undefined;
  /** The card that is being removed, or could not be removed. */
  removing: AppliedCard | undefined;
  /** Whether loading the cart has ended, with or without success. */
  isAnswered = false;

  #loading = new AbortController();
  /** The id that applies the quote. No event has it. */
  #quoteId = "";

  constructor(
    private readonly host: CartHost,
    private readonly calls: Calls,
    private readonly shop: ShopApi,
  ) {
    host.addController(this);
  }

  /** Whether the cart has something to pay and room for a card. True until the cart is loaded. */
  get takesCard(): boolean {
    return this.#room > 0 && !this.isClosed;
  }

  /** Whether the shop's last error rules out gift cards: the cart is placed, gone, or in another currency, for example. */
  get isClosed(): boolean {
    return isClosing(this.calls.error);
  }

  /** Whether the cart has its maximum number of cards, and there is more that a card may pay. */
  get isFull(): boolean {
    return !!this.summary && openCents(this.summary) > 0 && this.#room <= 0;
  }

  /** Whether the cards pay the whole cart. */
  get isCovered(): boolean {
    return !!this.summary && isCovered(this.summary);
  }

  /** Whether the cart has a card. */
  get isApplied(): boolean {
    return !!this.summary && this.summary.cards.length > 0;
  }

  /** The number of further cards, if anything is left that a card may pay. Expired cards take no place. */
  get #room(): number {
    const { summary } = this;
    if (!summary) return 2;
    return openCents(summary) && summary.maxCards - summary.cards.filter((card) => card.state !== "expired").length;
  }

  hostDisconnected(): void {
    this.#loading.abort();
  }

  /** Clears everything before another cart is shown. */
  reset(): void {
    this.#loading.abort();
    this.calls.reset();
    this.summary = this.quote = this.before = this.removing = undefined;
    this.isAnswered = false;
  }

  /**
   * Loads the cart. It waits for a pending change first, so that an older response never replaces a newer one.
   * @param isQuiet whether the shopper did not ask for this: a temporary failure is not shown
   * @returns whether figures changed that the shopper has seen
   */
  async load(isQuiet = false): Promise<boolean> {
    await this.calls.settled;
    this.#loading.abort();
    const { signal } = (this.#loading = new AbortController());
    try {
      const summary = await this.shop.summary(this.host.cart, signal);
      return !signal.aborted && this.#reload(summary);
    } catch (error) {
      const isIgnored = isQuiet && isRetryable((error as CallError).code);
      if (!signal.aborted && !isIgnored) this.calls.fail("load", error);
      return false;
    } finally {
      if (!signal.aborted && !this.isAnswered) {
        this.isAnswered = true;
        void this.host.updateComplete.then(() => dispatch(this.host, "giftcard-ready", { summary: this.summary }));
      }
    }
  }

  /** Fetches a card's balance and how much of it the order would use. Returns undefined if the call failed. */
  async fetchQuote(entry: CardEntry): Promise<QuoteDetail["quote"] | undefined> {
    const answer = await this.calls.run("quote", (signal) => this.shop.quote(this.host.cart, entry, signal));
    if (answer) {
      const { quoteId, ...quote } = answer;
      this.#quoteId = quoteId;
      this.quote = quote;
      this.before = undefined;
      dispatch(this.host, "giftcard-quote", { quote, summary: this.summary });
    }
    return this.quote;
  }

  /** Applies the quoted card. Returns undefined if that failed. If the shop refuses the quote, the quote is dropped. */
  async apply(): Promise<AppliedCard | undefined> {
    const { quote, calls } = this;
    if (!quote) return undefined;
    const waits: Promise<unknown>[] = [];
    const waitUntil = (promise: Promise<unknown>) => waits.push(promise);
    if (!dispatch(this.host, "giftcard-before-apply", { quote, summary: this.summary, waitUntil })) return undefined;
    const known = new Set(this.summary?.cards.map((card) => card.id));
    // A cart that is loading now would be older than the response to this call.
    this.#loading.abort();
    const summary = await calls.run("apply", async (signal) => {
      const answers = await Promise.all(waits).catch(() => {
        throw new CallError("internal");
      });
      signal.throwIfAborted();
      const veto = answers.find((answer) => answer === false || typeof answer === "string");
      return veto === undefined ? this.#applyOrFind(quote.lastFour, known, signal) : `${veto || ""}`;
    });
    const code = calls.error?.code;
    if (typeof summary === "string") calls.show("apply", "unfinished", summary);
    else if (summary) {
      this.quote = this.before = undefined;
      this.#accept(summary);
      const card = newCard(summary, quote.lastFour, known) ?? summary.cards.at(-1);
      if (card) dispatch(this.host, "giftcard-applied", { card, summary });
      return card;
    }
    if (code && !isRetryable(code)) this.quote = undefined;
    return undefined;
  }

  /** Removes a card from the cart. Returns false if that failed. */
  async remove(card: AppliedCard): Promise<boolean> {
    this.removing = card;
    this.#loading.abort();
    const summary = await this.calls.run("remove", (signal) => this.shop.remove(this.host.cart, card.id, signal));
    if (!summary) return false;
    this.removing = this.before = undefined;
    this.#accept(summary);
    dispatch(this.host, "giftcard-removed", { card, summary });
    return true;
  }

  /**
   * Applies the quoted card. A refusal may mean that the card is applied already: an earlier response was lost, or the
   * browser sent the call twice, as browsers do if a kept-alive connection breaks. So this checks the cart first.
   */
  async #applyOrFind(lastFour: string, known: ReadonlySet<string>, signal: AbortSignal): Promise<CartSummary> {
    const { shop } = this;
    const { cart } = this.host;
    try {
      return await shop.apply(cart, this.#quoteId, signal);
    } catch (error) {
      if (!(error instanceof CallError) || isRetryable(error.code)) throw error;
      const summary = await shop.summary(cart, signal).catch(() => undefined);
      if (summary && newCard(summary, lastFour, known)) return summary;
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

  /** Stores the cart from a response. Returns whether one of its figures changed. */
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

/** Returns the part of the remainder that a card may pay. */
function openCents({ remainderCents, notByCardCents = 0 }: CartSummary): number {
  return remainderCents - notByCardCents;
}

/** Recalculates a quote for a cart that changed; undefined if nothing is left for the card to pay. */
function requote(quote: QuoteDetail["quote"], summary: CartSummary): QuoteDetail["quote"] | undefined {
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

/** Returns the card that the quote added to the cart. Another card with the same last digits may have been there before. */
function newCard(summary: CartSummary, lastFour: string, known: ReadonlySet<string>): AppliedCard | undefined {
  return summary.cards.find((card) => card.lastFour === lastFour && !known.has(card.id));
}
