import type { AppliedCard, CartSummary } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from "lit";
import { CallError, isRetryable } from "./call-errors.js";
import { cardQuote } from "./card-quote.js";
import { CartCards } from "./cart-cards.js";
import { cartView } from "./cart-view.js";
import { changeText } from "./change-text.js";
import { moveFocus } from "./focus.js";
import { FormLink } from "./form-link.js";
import { GiftcardElement, register } from "./giftcard-element.js";
import { hint } from "./hint.js";
import { isErrorCode } from "./messages/index.js";

/** The cart isn't asked for more often than this because the shopper came back to the page. */
const freshMs = 5000;

/**
 * Takes gift cards at a checkout: card number and PIN, balance, what this order would use, apply, remove.
 * Nothing is taken from a card before the order is placed.
 *
 * @tag giftcard-pay
 *
 * @event {GiftcardEvent<BeforeApplyDetail>} giftcard-before-apply - A card is about to be applied; `preventDefault()` keeps it from that.
 * @event {GiftcardEvent<CardDetail>} giftcard-applied - A card was applied to the cart.
 * @event {GiftcardEvent<CardDetail>} giftcard-removed - A card was taken off the cart.
 * @event {GiftcardEvent<TotalDetail>} giftcard-total - What the cards cover or what is left to pay changed, or became known.
 * @event {GiftcardEvent<ErrorDetail>} giftcard-error - A call was refused or got no answer.
 *
 * @cssstate covered - The cards pay all of it: the page's other payment methods can be put away.
 * @cssstate applied - The cart has a card.
 * @cssstate busy - A call is under way.
 *
 * @csspart base - The whole.
 * @csspart form - Card number and PIN.
 * @csspart label - A label of a field.
 * @csspart input - A field.
 * @csspart button - Every button but "remove"; `check`, `apply`, `add` and `retry` name one each.
 * @csspart quote - A checked card, before it is applied.
 * @csspart note - Why figures are as they are: the limit per card, or what changed.
 * @csspart summary - The applied cards with their totals.
 * @csspart cards - The list of applied cards.
 * @csspart card - One applied card.
 * @csspart remove - The button that takes a card off.
 * @csspart totals - What the cards cover, and what is left to pay.
 * @csspart alert - The message when something went wrong.
 * @csspart error - The text of a message, in the alert or below a field.
 */
export class GiftcardPay extends GiftcardElement {
  static readonly formAssociated = true;

  static override properties: PropertyDeclarations = {
    cart: {},
    disabled: { type: Boolean, reflect: true },
    open: { state: true },
  };

  /** Registers the tag. Where it is registered already, whoever did it, nothing happens. */
  static define(tag = "giftcard-pay", registry?: CustomElementRegistry): void {
    register(tag, GiftcardPay, registry);
  }

  /** The id of the cart. The form opens once it and the endpoint are known. */
  cart = "";

  /** Whether nothing can be entered or changed; a disabled `<fieldset>` around it does the same. */
  disabled = false;

  /** Whether the entry of a card is to be seen. */
  protected open = true;

  readonly #cards = new CartCards(this, this.calls, this.shop);
  readonly #link = new FormLink(this, this.calls);
  #fieldsetDisabled = false;
  #readAt = 0;

  constructor() {
    super();
    this.addEventListener("invalid", this.#onInvalid);
  }

  /** The cart as the shop told it last; undefined until then. */
  get summary(): CartSummary | undefined {
    return this.#cards.summary;
  }

  /** The form that it belongs to. It waits for a call under way, and isn't sent while a card is entered but not applied. */
  get form(): HTMLFormElement | null {
    return this.#link.internals.form;
  }

  /** Invalid while a card is entered or checked, but not applied. */
  get validity(): ValidityState {
    return this.#link.internals.validity;
  }

  /** Whether it can keep the form from being sent: not where it is disabled. */
  get willValidate(): boolean {
    return this.#link.internals.willValidate;
  }

  /** What keeps the form from being sent; empty where nothing does. */
  get validationMessage(): string {
    return this.#link.internals.validationMessage;
  }

  /** Whether no card is entered or checked without being applied. */
  checkValidity(): boolean {
    return this.#link.internals.checkValidity();
  }

  /** The same, and where one is, says so and goes there. */
  reportValidity(): boolean {
    return this.#link.internals.reportValidity();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) void this.refresh();
    addEventListener("pageshow", this.#onReturn);
    document.addEventListener("visibilitychange", this.#onReturn);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("pageshow", this.#onReturn);
    document.removeEventListener("visibilitychange", this.#onReturn);
  }

  /** @ignore */
  formAssociatedCallback(form: HTMLFormElement | null): void {
    this.#link.attach(form);
  }

  /** @ignore */
  formDisabledCallback(disabled: boolean): void {
    this.#fieldsetDisabled = disabled;
    this.requestUpdate();
  }

  /** What was entered goes; applied cards stay, since they are the cart's. @ignore */
  formResetCallback(): void {
    if (!this.hasUpdated) return;
    this.entry.clear();
    this.#cards.quote = this.calls.error = undefined;
    this.open = !this.#cards.isApplied;
  }

  /** Asks the shop for the cart again. Call it when the cart changed. Never rejects: a failure is shown. */
  refresh(): Promise<void> {
    return this.#refresh();
  }

  async #refresh(isQuiet?: boolean): Promise<void> {
    if (!this.#isReady) return;
    this.#readAt = Date.now();
    const cards = this.#cards;
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
   * Asks for the cart again, and shows then the text of a code that the shop refused an order with.
   * @param code a ShopErrorCode; any other shows the text of `internal`
   * @param retryAfterSeconds the wait, where the refusal names one
   */
  async showError(code: string, retryAfterSeconds?: number): Promise<void> {
    await this.refresh();
    this.calls.fail("order", new CallError(isErrorCode(code) ? code : "internal", retryAfterSeconds));
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    if (this.calls.error?.code === "unfinished" && !this.#isUnfinished) this.calls.error = undefined;
    if (this.hasUpdated && this.#cards.isClosed) {
      this.entry.clear();
      this.#cards.quote = undefined;
    }
    if (!this.hasUpdated || !isAnotherCart(changed)) return;
    this.#cards.reset();
    this.entry.missing = [];
    this.live.text = "";
    this.open = true;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (this.cart && !this.endpoint) hint("it has a cart but no endpoint.");
    if (isAnotherCart(changed)) void this.refresh();
    const { isCovered, isApplied } = this.#cards;
    this.#link.show({ covered: isCovered, applied: isApplied, busy: this.busy });
    this.#link.refuse(this.#isUnfinished && this.words.texts.errors.unfinished);
  }

  protected override render(): TemplateResult {
    const { words } = this;
    const { texts } = words;
    const { busy } = this.calls;
    const cards = this.#cards;
    const { quote, takesCard, takesAnother, isApplied } = cards;
    return this.frame({
      title: texts.title,
      before: cartView({ words, cards, busy: busy === "remove" }, this.#remove),
      between: quote
        ? cardQuote({ words, quote, busy: busy === "apply", takesAnother }, this.#apply, this.#leaveQuote)
        : nothing,
      after:
        isApplied && !this.open && !quote && takesCard
          ? html`<button part="button add" id="add" type="button" @click=${this.#onOpen}>${texts.another}</button>`
          : nothing,
      notice: this.#link.isWaiting && texts.sending,
      hidden: !this.open || !!quote || !takesCard,
      // What a server rendered is seen without any script.
      unsure: !cards.isAnswered && !!globalThis.document,
      disabled: this.disabled || this.#fieldsetDisabled,
      shut: !this.#isReady,
      check: this.#check,
      retry: this.#retry,
      cancel: isApplied ? this.#onCancel : undefined,
    });
  }

  get #isReady(): boolean {
    return !!this.endpoint && !!this.cart;
  }

  /** Whether a card is entered or checked, but not applied. While a call is under way a form isn't refused but waits. */
  get #isUnfinished(): boolean {
    const { quote, takesCard } = this.#cards;
    return !this.busy && (!!quote || (this.open && takesCard && !this.entry.isBlank));
  }

  /** A page from the back/forward cache, or a tab that was put away, shows what was. */
  readonly #onReturn = (event: Event): void => {
    const isStale = !document.hidden && Date.now() - this.#readAt > freshMs;
    if ((event as PageTransitionEvent).persisted ?? isStale) void this.#refresh(true);
  };

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

  readonly #onInvalid = (event: Event): void => {
    event.preventDefault();
    this.calls.show("order", "unfinished");
    this.focus();
  };

  readonly #check = async (): Promise<void> => {
    const typed = this.#isReady && this.calls.isFree && this.entry.take();
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

  readonly #leaveQuote = async (): Promise<void> => {
    if (this.busy) return;
    this.#cards.quote = this.calls.error = undefined;
    this.requestUpdate();
    await moveFocus(this, "#pin");
  };

  readonly #remove = async (card: AppliedCard): Promise<void> => {
    if (this.busy) return;
    const at = this.summary?.cards.findIndex(({ id }) => id === card.id) ?? 0;
    if (!(await this.#cards.remove(card))) return this.#showFailure();
    this.#announce(this.words.texts.announceRemoved, card);
    const cards = this.summary?.cards ?? [];
    const next = cards[Math.min(at, cards.length - 1)];
    if (!next) this.open = true;
    await moveFocus(this, next ? `[data-remove="${CSS.escape(next.id)}"]` : "#number", "#apply");
  };

  /** Tries again what the alert is about. */
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
    // What the shop refused, it may know better by now.
    if (error.action === "apply" && !isRetryable(error.code)) void this.#cards.load();
    await this.entry.showError(error, error.action === "remove" || !!this.#cards.quote);
  }

  #announce(text: string, { lastFour, amountCents }: AppliedCard): void {
    const remainder = this.summary?.remainderCents ?? 0;
    this.say(text, { last4: lastFour, amount: amountCents, remainder });
  }
}

function isAnotherCart(changed: PropertyValues<GiftcardPay>): boolean {
  return changed.has("endpoint") || changed.has("cart") || changed.has("publishableKey");
}
