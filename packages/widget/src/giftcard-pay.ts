import type { AppliedCard, CardEntry, CartSummary } from "@giftcard-pay/checkout/storefront";
import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from "lit";
import { cardList } from "./card-list.js";
import { cardQuote, note } from "./card-quote.js";
import { CardSession } from "./card-session.js";
import { changeText } from "./change-text.js";
import type { Action } from "./events.js";
import { isPassing } from "./faults.js";
import { FormLink } from "./form-link.js";
import { GiftcardElement, register } from "./giftcard-element.js";
import { isFaultCode } from "./messages/index.js";
import { type ShopAddress, ShopFault } from "./shop-api.js";

/**
 * Takes gift cards at a checkout: card number and PIN, balance, what this order would use, apply, remove.
 * Nothing is taken from a card before the order is placed.
 *
 * @tag giftcard-pay
 *
 * @event {GiftcardEvent<BeforeApplyDetail>} giftcard-pay:before-apply - A card is about to be applied; `preventDefault()` keeps it from that.
 * @event {GiftcardEvent<CardDetail>} giftcard-pay:applied - A card was applied to the cart.
 * @event {GiftcardEvent<CardDetail>} giftcard-pay:removed - A card was taken off the cart.
 * @event {GiftcardEvent<TotalDetail>} giftcard-pay:total - What the cards cover or what is left to pay changed, or became known.
 * @event {GiftcardEvent<ErrorDetail>} giftcard-pay:error - A call was refused or got no answer.
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
 *
 * @cssproperty [--giftcard-pay-accent=#1f4fd1] - The main button and the focus ring.
 * @cssproperty [--giftcard-pay-on-accent=#fff] - The text on the main button.
 * @cssproperty [--giftcard-pay-error] - Messages; a red that follows the text colour.
 * @cssproperty [--giftcard-pay-border] - The lines of panels.
 * @cssproperty [--giftcard-pay-field] - The ground of a field.
 * @cssproperty [--giftcard-pay-field-border] - The lines of fields and buttons.
 * @cssproperty [--giftcard-pay-surface] - The ground of panels.
 * @cssproperty [--giftcard-pay-focus] - The focus ring alone; the accent, nearer to the text colour.
 * @cssproperty [--giftcard-pay-radius=0.5rem] - Rounding.
 * @cssproperty [--giftcard-pay-gap=1rem] - Space between the parts.
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

  protected readonly calls: CardSession = new CardSession(this, () => this.address, this.waiting);

  readonly #link: FormLink = new FormLink(this);
  #shut = false;

  constructor() {
    super();
    this.addEventListener("invalid", this.#onInvalid);
  }

  /** The cart as the shop told it last; undefined until then. */
  get summary(): CartSummary | undefined {
    return this.calls.summary;
  }

  /** The form that it belongs to. It waits for a call under way, and isn't sent while a card is entered but not applied. */
  get form(): HTMLFormElement | null {
    return this.#link.internals.form;
  }

  /** Invalid while a card is entered or checked, but not applied. */
  get validity(): ValidityState {
    return this.#link.internals.validity;
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
  }

  /** @ignore */
  formAssociatedCallback(form: HTMLFormElement | null): void {
    this.#link.attach(form);
  }

  /** @ignore */
  formDisabledCallback(disabled: boolean): void {
    this.#shut = disabled;
    this.requestUpdate();
  }

  /** What was entered goes; applied cards stay, since they are the cart's. @ignore */
  formResetCallback(): void {
    if (!this.hasUpdated) return;
    this.fields.clear();
    this.calls.quote = this.calls.fault = undefined;
    this.open = !this.#applied;
  }

  /** Asks the shop for the cart again. Call it when the cart changed. Never rejects: a failure is shown. */
  async refresh(): Promise<void> {
    if (!this.ready) return;
    const { calls } = this;
    const first = !this.summary;
    const quoted = calls.quote;
    const changed = await calls.load();
    const { summary, quote } = calls;
    if (!summary) return;
    if (first && this.#applied && this.fields.isBlank) this.open = false;
    if (quoted && !quote) await this.attention.focusOn();
    if (!changed || !(this.#applied || quoted)) return;
    const { announceQuote, announceChanged } = this.words.texts;
    this.#say(`${changeText(this.words, this.calls)} ${quote ? announceQuote : announceChanged}`, {
      usable: quote?.usableCents ?? 0,
      covered: summary.coveredCents,
      remaining: (quote ?? summary).remainingCents,
    });
  }

  /**
   * Shows the text of a code that the shop refused an order with, and asks for the cart again.
   * @param code a ShopErrorCode; any other shows the text of `internal`
   * @param retryAfterSeconds the wait, where the refusal names one
   */
  async showError(code: string, retryAfterSeconds?: number): Promise<void> {
    await this.refresh();
    this.calls.fail("order", new ShopFault(isFaultCode(code) ? code : "internal", retryAfterSeconds));
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    if (this.calls.fault?.code === "unfinished" && !this.#isUnfinished) this.calls.fault = undefined;
    if (!this.hasUpdated || !isAnotherCart(changed)) return;
    this.calls.reset();
    this.fields.missing = [];
    this.attention.announcement = "";
    this.open = true;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (isAnotherCart(changed)) void this.refresh();
    const { calls } = this;
    this.#link.show({ covered: calls.isCovered, applied: this.#applied, busy: this.busy });
    this.#link.refuse(this.#isUnfinished && this.words.texts.errors.unfinished);
  }

  protected override render(): TemplateResult {
    const { words, calls } = this;
    const { texts } = words;
    const { summary, quote, busy, takesCard } = calls;
    const applied = this.#applied;
    return this.frame({
      title: texts.title,
      disabled: this.disabled || this.#shut,
      hidden: !this.open || !!quote || !takesCard,
      cancelable: applied,
      before: html`${summary?.environment === "sandbox" ? html`<span class="badge">${texts.sandbox}</span>` : nothing}
      ${
        summary && applied
          ? cardList(
              {
                words,
                summary,
                isFull: calls.isFull,
                removing: busy === "remove" ? calls.removing?.id : undefined,
              },
              (card) => void this.#takeOff(card),
            )
          : nothing
      }
      ${applied || takesCard ? nothing : html`<p>${texts.errors.nothing_to_pay}</p>`}
      ${applied || quote ? note(changeText(this.words, this.calls)) : nothing}`,
      between: quote
        ? cardQuote(
            { words, quote, busy: busy === "apply", takesAnother: calls.takesAnother },
            () => void this.#applyCard(),
            () => void this.#leaveQuote(),
          )
        : nothing,
      after:
        applied && !this.open && !quote && takesCard
          ? html`<button part="button add" id="add" type="button" @click=${this.#onOpen}>${texts.another}</button>`
          : nothing,
    });
  }

  protected override get ready(): boolean {
    return super.ready && this.cart !== "";
  }

  protected override get address(): ShopAddress {
    return { ...super.address, cart: this.cart };
  }

  get #applied(): boolean {
    return !!this.summary && this.summary.cards.length > 0;
  }

  /** Whether a card is entered or checked, but not applied. While a call is under way a form isn't refused but waits. */
  get #isUnfinished(): boolean {
    const { quote, takesCard } = this.calls;
    return !this.busy && (!!quote || (this.open && takesCard && !this.fields.isBlank));
  }

  readonly #onOpen = (): void => {
    this.open = true;
    void this.attention.focusOn("#number");
  };

  readonly #onInvalid = (event: Event): void => {
    event.preventDefault();
    this.calls.note("order", "unfinished");
    this.focus();
  };

  /** @ignore */
  async settled(): Promise<boolean> {
    await this.calls.settled;
    // What became of it is noted a moment after.
    await new Promise((resolve) => setTimeout(resolve));
    await this.updateComplete;
    return !this.calls.fault;
  }

  protected override close(): void {
    if (this.busy) return;
    this.fields.clear();
    this.calls.fault = undefined;
    this.open = false;
    void this.attention.focusOn("#add");
  }

  protected override retry(action: Action): void {
    const { calls } = this;
    if (action === "apply") void this.#applyCard();
    else if (action === "remove" && calls.removing) void this.#takeOff(calls.removing);
    else {
      calls.fault = undefined;
      void this.refresh();
    }
  }

  protected override async send(entry: CardEntry): Promise<void> {
    const quote = await this.calls.check(entry);
    if (!quote) return this.showFault();
    const { announceBalance, announceQuote } = this.words.texts;
    this.fields.clearPin();
    this.#say(`${announceBalance} ${announceQuote}`, {
      last4: quote.lastFour,
      balance: quote.balanceCents,
      usable: quote.usableCents,
      remaining: quote.remainingCents,
    });
    await this.attention.focusOn("#apply");
  }

  protected override async showFault(): Promise<void> {
    const { fault, quote } = this.calls;
    // What the shop refused, it may know better by now.
    if (fault?.action === "apply" && !isPassing(fault.code)) void this.calls.load();
    await super.showFault(fault?.action === "remove" || !!quote);
  }

  async #applyCard(): Promise<void> {
    if (this.busy) return;
    const card = await this.calls.apply();
    if (!card) return this.showFault();
    this.fields.clear();
    this.open = false;
    this.#announceCard(this.words.texts.announceApplied, card);
    await this.attention.focusOn("#add", "#summary");
  }

  async #takeOff(card: AppliedCard): Promise<void> {
    if (this.busy) return;
    const at = this.summary?.cards.findIndex(({ id }) => id === card.id) ?? 0;
    if (!(await this.calls.remove(card))) return this.showFault();
    this.#announceCard(this.words.texts.announceRemoved, card);
    const cards = this.summary?.cards ?? [];
    const next = cards[Math.min(at, cards.length - 1)];
    if (!next) this.open = true;
    await this.attention.focusOn(next ? `[data-remove="${CSS.escape(next.id)}"]` : "#number", "#apply");
  }

  async #leaveQuote(): Promise<void> {
    if (this.busy) return;
    this.calls.quote = this.calls.fault = undefined;
    this.requestUpdate();
    await this.attention.focusOn("#pin");
  }

  #announceCard(text: string, card: AppliedCard): void {
    this.#say(text, {
      last4: card.lastFour,
      amount: card.amountCents,
      remaining: this.summary?.remainingCents ?? 0,
    });
  }

  #say(text: string, values: Record<string, string | number>): void {
    this.attention.say(this.words.fill(text, values));
  }
}

function isAnotherCart(changed: PropertyValues<GiftcardPay>): boolean {
  return changed.has("endpoint") || changed.has("cart") || changed.has("publishableKey");
}
