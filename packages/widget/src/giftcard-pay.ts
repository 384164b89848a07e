import type { AppliedCard, CartSummary } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from "lit";
import { CallError, isRetryable } from "./call-errors.js";
import { cardQuote } from "./card-quote.js";
import { CartCards } from "./cart-cards.js";
import { cartView, changeText } from "./cart-view.js";
import { CartWatch } from "./cart-watch.js";
import { moveFocus } from "./focus.js";
import { FormAssociatedElement } from "./form-associated-element.js";
import { register } from "./giftcard-element.js";
import { hint } from "./hint.js";
import { isErrorCode } from "./messages/index.js";
import { textOf } from "./shop-api.js";

/**
 * Takes gift cards at a checkout: shoppers enter number and PIN, see the balance, and apply or remove the card. No money
 * is taken before the order is placed. The form around it submits a field `plan`: the amounts that the shopper sees.
 *
 * @tag giftcard-pay
 *
 * @event {GiftcardEvent<ReadyDetail>} giftcard-ready - The cart was loaded for the first time, or could not be, and is shown.
 * @event {GiftcardEvent<QuoteDetail>} giftcard-quote - A card was checked; its balance is shown.
 * @event {GiftcardEvent<BeforeApplyDetail>} giftcard-before-apply - A card is about to be applied; `preventDefault()` stops it. `detail.waitUntil(promise)` delays it, and a promise of a text stops it for this reason.
 * @event {GiftcardEvent<CardDetail>} giftcard-applied - A card was applied to the cart.
 * @event {GiftcardEvent<CardDetail>} giftcard-removed - A card was removed from the cart.
 * @event {GiftcardEvent<TotalDetail>} giftcard-total - The total, the cards' part or the remainder changed, or was loaded.
 * @event {GiftcardEvent<ErrorDetail>} giftcard-error - A call was refused or got no response.
 *
 * @cssstate covered - The cards pay the whole order, so the page can hide its other payment methods.
 * @cssstate applied - The cart has a card.
 * @cssstate settling - A payment with a card is not finished, so the order must wait.
 * @cssstate busy - A call is pending.
 * @cssstate shown - The tag is rendered.
 *
 * @csspart button - Every other button but "remove"; most have a part name of their own: `check`, `apply`, `cancel`, `add`, `without` and `retry`.
 * @csspart summary - The applied cards and their sum.
 * @csspart cards - The list of applied cards.
 * @csspart card - An applied card.
 * @csspart figure - The remainder, or the sum of all cards, with its amount.
 * @csspart note - An explanation of figures: the limit per card, or what changed.
 * @csspart actions - The buttons of the quote.
 * @csspart remove - The button that removes a card.
 * @csspart covered - The text that nothing is left to pay.
 * @csspart badge - The mark of a sandbox.
 */
export class GiftcardPay extends FormAssociatedElement {
  static override properties: PropertyDeclarations = { cart: {}, open: { state: true } };

  /** Registers the tag. Does nothing if the tag is registered already. */
  static define(tag = "giftcard-pay", registry?: CustomElementRegistry): void {
    register(tag, GiftcardPay, registry);
  }

  /** The id of the cart. Cards can be checked once this and `endpoint` are set. */
  cart = "";

  /** Whether the form for a card is open. */
  protected open = true;

  readonly #cards = new CartCards(this, this.calls);
  readonly #watch = new CartWatch(this, this.#cards, (isOnline) => {
    // A card that is being corrected is not sent before the shopper has finished.
    if (isOnline && this.calls.error?.code === "offline") {
      if (!this.entry.isEdited) this.#retry();
    } else void this.#refresh(true);
  });
  /** The address of the cart that is shown. */
  #shown = "";

  /** The cart as of the shop's last response; undefined before that. */
  get summary(): CartSummary | undefined {
    return this.#cards.summary;
  }

  /** @ignore */
  override connectedCallback(): void {
    // Before the first update, which would request a cart that the page sets only now a second time.
    void this.refresh();
    super.connectedCallback();
  }

  /** Clears what the shopper entered. Applied cards stay: they belong to the cart. @ignore */
  formResetCallback(): void {
    if (!this.hasUpdated) return;
    this.entry.clear();
    this.#cards.quote = this.calls.error = undefined;
    this.open = !this.#cards.isApplied;
  }

  /** Loads the cart again. Call it whenever the cart has changed. It shows a failure and never rejects. */
  refresh(): Promise<void> {
    return this.#refresh();
  }

  async #refresh(isQuiet?: boolean): Promise<void> {
    const cards = this.#cards;
    this.#showOtherCart();
    // An older response must not replace a newer one. A page that has just added the tag may also set its properties yet.
    await this.calls.settled;
    this.#showOtherCart();
    if (!this.#isReady) return;
    this.#watch.loadedAt = Date.now();
    const { summary: before, quote: quoted } = cards;
    const changed = await cards.load(isQuiet);
    const { summary, quote, isApplied } = cards;
    if (!summary) return;
    if (!isApplied) this.open = true;
    else if (!before && this.entry.isBlank) this.open = false;
    if (quoted && !quote) await moveFocus(this);
    if (!changed || !(isApplied || quoted || before?.cards.length)) return;
    const { announceQuote, announceChanged } = this.words.texts;
    this.say(`${changeText(this.words, cards)} ${quote ? announceQuote : announceChanged}`, {
      usable: quote?.usableCents ?? 0,
      covered: summary.coveredCents,
      remainder: (quote ?? summary).remainderCents,
    });
  }

  /**
   * Loads the cart again, then shows the text for the code with which the shop refused the order.
   * @param code a `ShopErrorCode`; any other code shows the text of `internal`
   * @param retryAfterSeconds the wait, if the refusal has one
   */
  async showError(code: string, retryAfterSeconds?: number): Promise<void> {
    await this.refresh();
    this.calls.fail("order", new CallError(isErrorCode(code) ? code : "internal", retryAfterSeconds));
  }

  /**
   * Returns the text for a refusal in the element's language, for a page that shows it at its own button.
   * @param code a `ShopErrorCode`, or Medusa's `insufficient_inventory` or `payment_authorization_error`
   * @returns undefined for any other code
   */
  textOf(code: string): string | undefined {
    return isErrorCode(code) ? this.words?.texts.errors[code] : undefined;
  }

  protected override currency(): string | undefined {
    return this.summary?.currency;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { error } = this.calls;
    if (error?.code.startsWith("un") && error.code !== this.#hindrance) this.calls.error = undefined;
    if (this.hasUpdated && this.#cards.isClosed) {
      this.entry.clear();
      this.#cards.quote = undefined;
    }
    if (this.isConnected && this.#address !== this.#shown) void this.refresh();
  }

  protected override updated(): void {
    if (this.cart && !this.endpoint) hint("the tag has a cart but no endpoint.");
    const { isCovered: covered, isApplied: applied, mustWait: settling } = this.#cards;
    this.reflect({ shown: true, covered, applied, settling, busy: this.busy }, this.#hindrance, this.summary?.plan);
  }

  protected override render(): TemplateResult {
    const { words } = this;
    const { texts } = words;
    const { busy } = this.calls;
    const cards = this.#cards;
    const { quote, takesCard, isApplied } = cards;
    return this.frame({
      title: texts.title,
      action: texts.use,
      before: cartView(words, cards, busy === "remove", this.#remove, this.#orderWithout),
      between: quote ? cardQuote(words, quote, busy === "apply", this.#apply, this.#cancelQuote) : nothing,
      after:
        isApplied && !this.open && !quote && takesCard
          ? html`<button part="button add" id="add" type="button" class="plain" @click=${this.#onOpen}>${texts.another}</button>`
          : nothing,
      hidden: !this.open || !!quote || !takesCard,
      // The form that a server renders must be visible without scripts.
      isPlaceholder: !cards.isAnswered && !!globalThis.document,
      disabled: this.disabled || this.isFieldsetDisabled,
      isLocked: !this.#isReady,
      check: this.#check,
      retry: this.#retry,
      cancel: isApplied ? this.#onCancel : undefined,
    });
  }

  get #isReady(): boolean {
    return !!this.endpoint && !!this.cart;
  }

  get #address(): string {
    return [this.endpoint, this.publishableKey, this.cart].map(textOf).join(" ");
  }

  /** Clears everything of the cart that was shown before, if it is another one. */
  #showOtherCart(): void {
    if (this.#address === this.#shown) return;
    this.#shown = this.#address;
    this.#cards.reset();
    this.entry.missing = [];
    this.spoken = "";
    this.open = true;
  }

  /** Why the order can't be placed. */
  get #hindrance(): "unfinished" | "unsettled" | undefined {
    const { quote, takesCard, mustWait } = this.#cards;
    if (this.busy || quote || (this.open && takesCard && !this.entry.isBlank)) return "unfinished";
    return mustWait ? "unsettled" : undefined;
  }

  readonly #onOpen = (): void => {
    this.open = true;
    void moveFocus(this, "#number");
  };

  readonly #onCancel = (): void => {
    if (this.busy) return;
    this.entry.clear();
    this.calls.error = undefined;
    this.open = false;
    void moveFocus(this, "#add");
  };

  readonly #check = async (): Promise<void> => {
    const typed = this.#isReady && this.calls.mayCall("quote") && this.entry.readEntry();
    if (!typed) return;
    const quote = await this.#cards.fetchQuote(typed);
    if (!quote) return this.#showFailure();
    const { announceBalance, announceQuote } = this.words.texts;
    this.entry.clearPin();
    this.say(`${announceBalance} ${announceQuote}`, {
      last4: quote.lastFour,
      balance: quote.balanceCents,
      usable: quote.usableCents,
      remainder: quote.remainderCents,
    });
    await moveFocus(this, "#apply");
  };

  readonly #apply = async (): Promise<void> => {
    if (this.busy) return;
    const card = await this.#cards.apply();
    if (!card) return this.#showFailure();
    this.entry.clear();
    this.open = false;
    this.#announce(this.words.texts.announceApplied, card);
    await moveFocus(this, "#add", "#summary");
  };

  readonly #cancelQuote = async (): Promise<void> => {
    if (this.busy) return;
    this.#cards.quote = this.calls.error = undefined;
    this.requestUpdate();
    await moveFocus(this, "#pin");
  };

  readonly #orderWithout = async (): Promise<void> => {
    this.#cards.agree();
    await moveFocus(this, "#summary");
    this.form?.requestSubmit();
  };

  readonly #remove = async (card: AppliedCard): Promise<void> => {
    if (this.busy) return;
    const index = this.summary?.cards.findIndex(({ id }) => id === card.id) ?? 0;
    if (!(await this.#cards.remove(card))) return this.#showFailure();
    this.#announce(this.words.texts.announceRemoved, card);
    const cards = this.summary?.cards ?? [];
    const next = cards[Math.min(index, cards.length - 1)];
    if (!next) this.open = true;
    await moveFocus(this, next ? `[data-remove="${CSS.escape(next.id)}"]` : "#number", "#apply");
  };

  /** Repeats the step that failed. */
  readonly #retry = (): void => {
    const { error } = this.calls;
    const { removing } = this.#cards;
    if (error?.action === "quote") void this.#check();
    else if (error?.action === "apply") void this.#apply();
    else if (error?.action === "remove" && removing) void this.#remove(removing);
    else {
      this.calls.error = undefined;
      void this.refresh();
    }
  };

  async #showFailure(): Promise<void> {
    const { error } = this.calls;
    if (!error) return;
    // A refusal can mean that the cart has changed meanwhile.
    if (error.action === "apply" && !isRetryable(error.code)) void this.#cards.load();
    await this.entry.showError(error, error.action === "remove" || !!this.#cards.quote);
  }

  /** Announces a change of the cart. */
  #announce(text: string, { lastFour, amountCents }: AppliedCard): void {
    const remainder = this.summary?.remainderCents ?? 0;
    this.say(text, { last4: lastFour, amount: amountCents, remainder });
  }
}
