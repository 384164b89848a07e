import type { AppliedCard, ApplyRequest, CardEntry, CartSummary, Quote } from "@giftcard-pay/checkout/storefront";
import type { ReactiveControllerHost } from "lit";
import { CallError, isClosing, isRetryable } from "./call-errors.js";
import type { Calls } from "./calls.js";
import { type CardAction, dispatch, type QuoteDetail } from "./events.js";
import { callShop, type ShopAddress, textOf } from "./shop-api.js";

/** An element with the id of its cart and the shop's address. */
interface CartHost extends ReactiveControllerHost, EventTarget, ShopAddress {
  readonly cart: string;
}

const figures = ["totalCents", "coveredCents", "remainderCents", "maxPerCardCents", "maxCards", "cards"];

/**
 * A cart and its gift cards, as of the shop's last response. It dispatches the cart's events, and stores no card number
 * and no PIN.
 */
export class CartCards {
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
  #agreedCents = 0;
  /** The figures that the page has heard of. */
  #told = "";

  constructor(
    private readonly host: CartHost,
    private readonly calls: Calls,
  ) {}

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

  /** Whether a payment with one of the cards is not finished. */
  get isSettling(): boolean {
    return !!this.summary?.cards.some(({ state }) => state === "settling");
  }

  /** Whether the order has to wait for such a payment: the shopper has not agreed to the remainder that it leaves meanwhile. */
  get mustWait(): boolean {
    return this.isSettling && this.summary?.remainderCents !== this.#agreedCents;
  }

  /** The number of further cards, if anything is left that a card may pay. Expired cards take no place. */
  get #room(): number {
    const { summary } = this;
    if (!summary) return 2;
    return openCents(summary) && summary.maxCards - summary.cards.filter((card) => card.state !== "expired").length;
  }

  /** Clears everything before another cart is shown. */
  reset(): void {
    this.#loading.abort();
    this.calls.reset();
    this.summary = this.quote = this.before = this.removing = undefined;
    this.isAnswered = false;
    this.#agreedCents = 0;
    this.#told = "";
  }

  /**
   * Loads the cart.
   * @param isQuiet whether the shopper did not ask for this: a temporary failure is not shown
   * @returns whether figures changed that the shopper has seen
   */
  async load(isQuiet = false): Promise<boolean> {
    this.#loading.abort();
    const { signal } = (this.#loading = new AbortController());
    try {
      const summary = await this.#call(signal);
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
    const answer = await this.calls.run("quote", (signal) =>
      this.#call<Quote>(signal, "/quote", "POST", entry, ["balanceCents", "usableCents", "remainderCents"]),
    );
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
    const veto = async () => {
      const answers = await Promise.all(waits).catch(() => {
        throw new CallError("internal");
      });
      return answers.find((answer) => answer === false || typeof answer === "string");
    };
    const isDone = (found: CartSummary) => !!newCard(found, quote.lastFour, known);
    const summary = await this.#change("apply", isDone, veto, "/cards", "POST", { quoteId: this.#quoteId });
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

  /** Lets the order cost the shopper what it costs without the cards whose payment is not finished. */
  agree(): void {
    this.#agreedCents = this.summary?.remainderCents ?? 0;
    if (this.summary) this.#accept(this.summary);
  }

  /** Removes a card from the cart. Returns false if that failed. */
  async remove(card: AppliedCard): Promise<boolean> {
    const { id } = (this.removing = card);
    const isDone = (found: CartSummary) => !found.cards.some((other) => other.id === id);
    const summary = await this.#change("remove", isDone, undefined, `/cards/${encodeURIComponent(id)}`, "DELETE");
    if (!summary || typeof summary === "string") return false;
    this.removing = this.before = undefined;
    this.#accept(summary);
    dispatch(this.host, "giftcard-removed", { card, summary });
    return true;
  }

  /** Calls one of the cart's routes. */
  #call<Answer = CartSummary>(
    signal: AbortSignal,
    path = "",
    method = "GET",
    body?: ApplyRequest,
    needed = figures,
  ): Promise<Answer> {
    const { host } = this;
    return callShop(host, signal, needed, method, `/carts/${encodeURIComponent(textOf(host.cart))}${path}`, body);
  }

  /**
   * Changes the cart by one of its routes. A refusal may mean that it was changed already: an earlier response was lost,
   * or the browser sent the call twice, as browsers do if a kept-alive connection breaks. So this then checks the cart.
   * @returns a text if the page vetoed the change
   */
  #change(
    action: CardAction,
    isDone: (summary: CartSummary) => boolean,
    veto: (() => Promise<unknown>) | undefined,
    ...route: [path: string, method: string, body?: ApplyRequest]
  ): Promise<CartSummary | string | undefined> {
    // A cart that is loading now would be older than the response to this call.
    this.#loading.abort();
    return this.calls.run(action, async (signal) => {
      const reason = await veto?.();
      signal.throwIfAborted();
      if (reason !== undefined) return `${reason || ""}`;
      try {
        return await this.#call(signal, ...route);
      } catch (error) {
        const summary = isRetryable((error as CallError).code)
          ? undefined
          : await this.#call(signal).catch(() => undefined);
        if (summary && isDone(summary)) return summary;
        throw error;
      }
    });
  }

  #reload(summary: CartSummary): boolean {
    const { summary: before, quote, calls } = this;
    const { isSettling } = this;
    if (calls.error?.action === "load" || this.isClosed) calls.error = undefined;
    const changed = this.#accept(summary) && !!before;
    if (isSettling && !this.isSettling && calls.error?.action === "order") calls.error = undefined;
    if (changed) this.before = before;
    if (quote && !calls.busy) this.quote = requote(quote, summary);
    return changed;
  }

  /** Stores the cart from a response. Returns whether one of its figures changed. */
  #accept(summary: CartSummary): boolean {
    this.summary = summary;
    this.host.requestUpdate();
    const { totalCents, coveredCents, remainderCents } = summary;
    if (!this.isSettling) this.#agreedCents = 0;
    const settling = this.mustWait;
    const told = `${[totalCents, coveredCents, remainderCents, settling]}`;
    if (told === this.#told) return false;
    this.#told = told;
    const covered = isCovered(summary);
    dispatch(this.host, "giftcard-total", { totalCents, coveredCents, remainderCents, covered, settling, summary });
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
