import type { AppliedCard, CardEntry, CartSummary, Quote } from "@giftcard-pay/checkout/storefront";
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { Countdown } from "./countdown.js";
import { type Action, type CardAction, GiftcardEvent, type GiftcardEventMap } from "./events.js";
import { type Fault, isPassing } from "./faults.js";
import { type ShopAddress, ShopApi, ShopFault } from "./shop-api.js";

/**
 * One cart and its gift cards: what the shop said last, the call under way, and what went wrong. It makes the
 * calls and dispatches the events; what is typed passes through and isn't kept.
 */
export class CardSession implements ReactiveController {
  summary: CartSummary | undefined;
  quote: Quote | undefined;
  fault: Fault | undefined;
  busy: CardAction | undefined;
  /** The card that is being taken off, or that couldn't be. */
  removing: AppliedCard | undefined;
  /** The wait after too many attempts. */
  readonly wait: Countdown;

  #running = new AbortController();
  #loading = new AbortController();
  #mutation: Promise<unknown> = Promise.resolve();
  #faults = 0;

  /**
   * @param address where to call; asked anew for each call
   * @param onWaitOver called when a wait has passed
   */
  constructor(
    private readonly host: ReactiveControllerHost & EventTarget,
    private readonly address: () => ShopAddress,
    onWaitOver: () => void,
  ) {
    host.addController(this);
    this.wait = new Countdown(host, () => {
      if (this.fault?.code === "too_many_attempts") this.fault = undefined;
      onWaitOver();
    });
  }

  /** Whether the cart has something to pay and room for a card; assumed until the shop has answered. */
  get takesCard(): boolean {
    return !this.summary || (this.summary.remainingCents > 0 && this.#room > 0);
  }

  /** Whether a card would fit after the one that is quoted. */
  get takesAnother(): boolean {
    return !!this.quote && this.quote.remainingCents > 0 && this.#room > 1;
  }

  /** Whether the cards, and not the amount, keep the cart from taking another. */
  get isFull(): boolean {
    return !!this.summary && this.summary.remainingCents > 0 && this.#room <= 0;
  }

  /** How many more cards fit. An expired one counts for nothing. */
  get #room(): number {
    const { summary } = this;
    if (!summary) return Number.POSITIVE_INFINITY;
    return summary.maxCards - summary.cards.filter((card) => card.state !== "expired").length;
  }

  hostDisconnected(): void {
    this.#running.abort();
    this.#loading.abort();
    this.busy = undefined;
  }

  /** Forgets everything, for another cart. */
  reset(): void {
    this.hostDisconnected();
    this.wait.stop();
    this.summary = this.quote = this.fault = this.removing = undefined;
  }

  /**
   * Asks for the cart. A change under way is waited for, so that an older answer never covers a newer one.
   * @returns whether figures that the shopper had seen have changed
   */
  async load(): Promise<boolean> {
    await this.#mutation;
    this.#loading.abort();
    const { signal } = (this.#loading = new AbortController());
    try {
      const summary = await this.#api.summary(signal);
      return !signal.aborted && this.#reload(summary);
    } catch (error) {
      if (!signal.aborted) this.fail("load", error);
      return false;
    }
  }

  /** Asks what a card holds. Undefined if that failed; {@link fault} says why. */
  async check(entry: CardEntry): Promise<Quote | undefined> {
    const quote = await this.#perform("quote", (signal) => this.#api.quote(entry, signal));
    if (quote) {
      this.quote = quote;
    }
    return quote;
  }

  /** Applies the quoted card. Undefined if that failed; where the shop refused the quote, it is gone. */
  async apply(): Promise<AppliedCard | undefined> {
    const { quote } = this;
    if (!quote) return undefined;
    const known = new Set(this.summary?.cards.map((card) => card.id));
    const summary = await this.#perform("apply", (signal) => this.#applyOnce(quote, known, signal));
    const code = this.fault?.code;
    if (summary) {
      this.quote = undefined;
      this.#accept(summary);
      const card = newCard(summary, quote, known) ?? summary.cards.at(-1);
      if (card) this.#tell("giftcard-pay:applied", { card, summary });
      return card;
    }
    if (code && !isPassing(code)) this.quote = undefined;
    return undefined;
  }

  /** Takes a card off. False if that failed. */
  async remove(card: AppliedCard): Promise<boolean> {
    if (this.busy) return false;
    this.removing = card;
    const summary = await this.#perform("remove", (signal) => this.#api.remove(card.id, signal));
    if (!summary) return false;
    this.removing = undefined;
    this.#accept(summary);
    this.#tell("giftcard-pay:removed", { card, summary });
    return true;
  }

  /** Notes a fault and dispatches it; anything that is no {@link ShopFault} is thrown on. */
  fail(action: Action, error: unknown): void {
    if (!(error instanceof ShopFault)) throw error;
    const { code, retryAfterSeconds } = error;
    this.fault = { code, action, count: ++this.#faults };
    if (retryAfterSeconds) this.wait.start(retryAfterSeconds);
    this.#tell("giftcard-pay:error", { code, action, ...(retryAfterSeconds && { retryAfterSeconds }) });
    this.host.requestUpdate();
  }

  get #api(): ShopApi {
    return new ShopApi(this.address());
  }

  /** Runs one change at a time. An answer for a cart that is no longer shown is dropped. */
  async #perform<Answer>(
    action: CardAction,
    call: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    if (this.busy) return undefined;
    this.busy = action;
    // A loaded cart would be older than what this call answers.
    if (action !== "quote") this.#loading.abort();
    const { signal } = (this.#running = new AbortController());
    this.host.requestUpdate();
    const work = call(signal);
    this.#mutation = work.then(
      () => undefined,
      () => undefined,
    );
    try {
      const answer = await work;
      if (signal.aborted) return undefined;
      this.busy = this.fault = undefined;
      return answer;
    } catch (error) {
      if (signal.aborted) return undefined;
      this.busy = undefined;
      this.fail(action, error);
      return undefined;
    } finally {
      this.host.requestUpdate();
    }
  }

  /**
   * A refusal may only mean that the card is applied already: an earlier answer was lost, or the browser, which
   * repeats a call by itself where a kept connection breaks, asked twice. So look before believing it.
   */
  async #applyOnce(quote: Quote, known: ReadonlySet<string>, signal: AbortSignal): Promise<CartSummary> {
    try {
      return await this.#api.apply(quote.quoteId, signal);
    } catch (error) {
      if (!(error instanceof ShopFault) || isPassing(error.code)) throw error;
      const summary = await this.#api.summary(signal).catch(() => undefined);
      if (summary && newCard(summary, quote, known)) return summary;
      throw error;
    }
  }

  #reload(summary: CartSummary): boolean {
    const { summary: before, quote } = this;
    if (this.fault?.action === "load") this.fault = undefined;
    const changed = this.#accept(summary);
    if (quote && !this.busy && summary.remainingCents - quote.usableCents !== quote.remainingCents) {
      this.quote = undefined;
      this.fail("quote", new ShopFault("amount_changed"));
    }
    return !!before && changed;
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
    this.#tell("giftcard-pay:total", { totalCents, coveredCents, remainingCents, summary });
    return true;
  }

  #tell<Type extends keyof GiftcardEventMap>(type: Type, detail: GiftcardEventMap[Type]["detail"]): void {
    this.host.dispatchEvent(new GiftcardEvent(type, detail));
  }
}

function newCard(summary: CartSummary, quote: Quote, known: ReadonlySet<string>): AppliedCard | undefined {
  return summary.cards.find((card) => card.lastFour === quote.lastFour && !known.has(card.id));
}
