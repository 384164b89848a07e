import type { AppliedCard, CartSummary } from "@giftcard-pay/checkout/storefront";
import {
  type CSSResult,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from "lit";
import { Amounts, usableLocale } from "./amounts.js";
import { Attention } from "./attention.js";
import { cardList } from "./card-list.js";
import { cardQuote } from "./card-quote.js";
import { CardSession } from "./card-session.js";
import { EntryFields } from "./entry-fields.js";
import { entryForm } from "./entry-form.js";
import { faultAlert } from "./fault-alert.js";
import { fieldsOf, isPassing } from "./faults.js";
import { styles } from "./giftcard-pay.styles.js";
import {
  builtInLanguage,
  isFaultCode,
  loadMessages,
  type MessageOverrides,
  type Messages,
  messagesOf,
  withOverrides,
} from "./messages/index.js";
import { ShopFault, type Transport } from "./shop-api.js";

/** How long one call may take before it counts as lost. */
const timeoutMs = 20_000;

/**
 * Takes gift cards at a checkout: card number and PIN, balance, what this order would use, apply, remove.
 * Nothing is taken from a card before the order is placed.
 *
 * @tag giftcard-pay
 *
 * @event {GiftcardEvent<CardDetail>} giftcard-pay:applied - A card was applied to the cart.
 * @event {GiftcardEvent<CardDetail>} giftcard-pay:removed - A card was taken off the cart.
 * @event {GiftcardEvent<TotalDetail>} giftcard-pay:total - What the cards cover or what is left to pay changed, or became known.
 * @event {GiftcardEvent<ErrorDetail>} giftcard-pay:error - A call was refused or got no answer.
 *
 * @csspart base - The whole.
 * @csspart form - Card number and PIN.
 * @csspart label - A label of a field.
 * @csspart input - A field.
 * @csspart button - Every button but "remove"; `check`, `apply`, `add` and `retry` name one each.
 * @csspart quote - A checked card, before it is applied.
 * @csspart note - The explanation of the limit per card.
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
 * @cssproperty [--giftcard-pay-radius=0.5rem] - Rounding.
 * @cssproperty [--giftcard-pay-gap=1rem] - Space between the parts.
 */
export class GiftcardPay extends LitElement {
  static override styles: CSSResult = styles;

  // Declared here and not by decorators, whose helpers would weigh more than all of this.
  static override properties: PropertyDeclarations = {
    endpoint: {},
    cart: {},
    publishableKey: { attribute: "publishable-key" },
    lang: { reflect: true },
    headers: { attribute: false },
    transport: { attribute: false },
    messages: { attribute: false },
    open: { state: true },
  };

  /** Registers the tag. Where it is registered already, whoever did it, nothing happens. */
  static define(
    tag = "giftcard-pay",
    registry: CustomElementRegistry | undefined = globalThis.customElements,
  ): void {
    if (registry && !registry.get(tag)) registry.define(tag, GiftcardPay);
  }

  /** The address of the shop's gift card routes, for example `https://shop.example/store/giftcard-pay`. */
  endpoint = "";

  /** The id of the cart. The form opens once it and the endpoint are known. */
  cart = "";

  /** Medusa's publishable API key, sent as `x-publishable-api-key`. */
  publishableKey = "";

  /** The language of the texts and amounts; without it, that of the nearest `lang`, then the browser's. */
  declare lang: string;

  /** Further headers of every call. */
  headers: Record<string, string> = {};

  /** Makes the calls in place of `fetch`. */
  transport: Transport | undefined;

  /** Texts of the page's own, on top of the language's. */
  messages: MessageOverrides = {};

  /** Whether the form stands open; with cards applied it is opened by a button. */
  private open = true;

  readonly #attention = new Attention(this);
  readonly #fields = new EntryFields(this);
  #texts!: Messages;
  #amounts!: Amounts;
  readonly #session: CardSession = new CardSession(
    this,
    () => {
      const { endpoint, cart, publishableKey, headers, transport } = this;
      return { endpoint, cart, publishableKey, headers, transport, timeoutMs };
    },
    () => this.#attention.say(this.#texts.waitOver),
  );

  /** The cart as the shop told it last; undefined until then. */
  get summary(): CartSummary | undefined {
    return this.#session.summary;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) void this.refresh();
  }

  /** Puts the focus on the first field, or on what stands in its place. */
  override focus(options?: FocusOptions): void {
    const place = this.renderRoot.querySelector<HTMLElement>("#apply, form:not([hidden]) #number, #add");
    (place ?? this.renderRoot.querySelector<HTMLElement>("#summary"))?.focus(options);
  }

  /** Asks the shop for the cart again. Call it when the cart changed. Never rejects: a failure is shown. */
  async refresh(): Promise<void> {
    if (!this.#ready) return;
    const first = !this.summary;
    const quoted = !!this.#session.quote;
    const changed = await this.#session.load();
    const { summary, quote } = this.#session;
    if (first && summary && summary.cards.length > 0 && this.#fields.isBlank) this.open = false;
    if (quoted && !quote) await this.#showFault();
    else if (changed && summary && summary.cards.length > 0) {
      this.#attention.say(this.#texts.announceChanged, {
        covered: this.#amounts.money(summary.coveredCents),
        remaining: this.#amounts.money(summary.remainingCents),
      });
    }
  }

  /**
   * Shows the text of a code that the shop refused an order with, and asks for the cart again.
   * @param code a ShopErrorCode; any other shows the text of `internal`
   * @param retryAfterSeconds the wait, where the refusal names one
   */
  async showError(code: string, retryAfterSeconds?: number): Promise<void> {
    await this.refresh();
    this.#session.fail("order", new ShopFault(isFaultCode(code) ? code : "internal", retryAfterSeconds));
  }

  protected override async scheduleUpdate(): Promise<void> {
    await loadMessages(builtInLanguage(this.#locale));
    super.scheduleUpdate();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.#texts = withOverrides(messagesOf(builtInLanguage(this.#locale)), this.messages);
    this.#amounts = new Amounts(this.#locale, this.summary?.currency);
    if (!this.hasUpdated || !isAnotherCart(changed)) return;
    this.#session.reset();
    this.#fields.missing = [];
    this.#attention.announcement = "";
    this.open = true;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (isAnotherCart(changed)) void this.refresh();
  }

  protected override render(): TemplateResult {
    const messages = this.#texts;
    const amounts = this.#amounts;
    const session = this.#session;
    const locale = this.#locale;
    const { summary, quote, fault, busy, wait, takesCard } = session;
    const applied = !!summary && summary.cards.length > 0;
    const language = Object.keys(this.messages).length > 0 ? locale : builtInLanguage(locale);
    return html`<div class="base" part="base" role="group" aria-label=${messages.title} lang=${language}>
      ${summary?.environment === "sandbox" ? html`<span class="badge">${messages.sandbox}</span>` : nothing}
      ${
        applied
          ? cardList(
              {
                messages,
                amounts,
                summary,
                isFull: session.isFull,
                removing: busy === "remove" ? session.removing?.id : undefined,
              },
              (card) => void this.#takeOff(card),
            )
          : nothing
      }
      ${applied || takesCard ? nothing : html`<p>${messages.errors.nothing_to_pay}</p>`}
      <div role="alert" id="fault" class=${fault ? "" : "silent"}>
        ${fault ? faultAlert({ messages, amounts, fault, waitSeconds: wait.total, busy: !!busy }, this.#onRetry) : nothing}
      </div>
      ${
        quote
          ? cardQuote(
              { messages, amounts, quote, busy: busy === "apply", takesAnother: session.takesAnother },
              () => void this.#applyCard(),
              () => void this.#leaveQuote(),
            )
          : nothing
      }
      ${entryForm(
        {
          messages,
          hidden: !this.open || !!quote || !takesCard,
          busy: busy === "quote",
          shut: !this.#ready,
          waitSeconds: wait.seconds,
          missing: this.#fields.missing,
          refused: (fault && fieldsOf[fault.code]) ?? [],
          pinShown: this.#fields.pinShown,
          cancelable: applied,
          keyboard: this.inputMode || "numeric",
        },
        {
          submit: this.#onSubmit,
          paste: this.#fields.onPaste,
          input: this.#fields.onInput,
          togglePin: this.#fields.onTogglePin,
          cancel: this.#onClose,
        },
      )}
      ${
        applied && !this.open && !quote && takesCard
          ? html`<button part="button add" id="add" type="button" @click=${this.#onOpen}>${messages.another}</button>`
          : nothing
      }
      <div role="status" class="silent">${this.#attention.announcement}</div>
    </div>`;
  }

  get #locale(): string {
    const page = globalThis.document?.documentElement?.lang;
    return usableLocale(
      this.lang,
      this.closest?.("[lang]")?.getAttribute("lang"),
      page,
      globalThis.navigator?.language,
    );
  }

  get #ready(): boolean {
    return this.endpoint !== "" && this.cart !== "";
  }

  readonly #onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    void this.#checkCard();
  };

  readonly #onOpen = (): void => {
    this.open = true;
    void this.#attention.focusOn("#number");
  };

  readonly #onClose = (): void => {
    if (this.#session.busy) return;
    this.#fields.clear();
    this.#session.fault = undefined;
    this.open = false;
    void this.#attention.focusOn("#add");
  };

  readonly #onRetry = (): void => {
    const { fault, removing } = this.#session;
    if (fault?.action === "quote") void this.#checkCard();
    else if (fault?.action === "apply") void this.#applyCard();
    else if (fault?.action === "remove" && removing) void this.#takeOff(removing);
    else {
      this.#session.fault = undefined;
      void this.refresh();
    }
  };

  async #checkCard(): Promise<void> {
    const session = this.#session;
    if (session.busy || !this.#ready || session.wait.seconds > 0) return;
    const entry = this.#fields.take();
    if (!entry) return this.#attention.focusOn(`#${this.#fields.missing[0]}`);
    const quote = await session.check(entry);
    if (!quote) return this.#showFault();
    this.#fields.clearPin();
    this.#attention.say(this.#texts.announceQuote, {
      last4: quote.lastFour,
      balance: this.#amounts.money(quote.balanceCents),
      usable: this.#amounts.money(quote.usableCents),
      remaining: this.#amounts.money(quote.remainingCents),
    });
    await this.#attention.focusOn("#apply");
  }

  async #applyCard(): Promise<void> {
    if (this.#session.busy) return;
    const card = await this.#session.apply();
    if (!card) return this.#showFault();
    this.#fields.clear();
    this.open = false;
    this.#announceCard(this.#texts.announceApplied, card);
    await this.#attention.focusOn("#add", "#summary");
  }

  async #takeOff(card: AppliedCard): Promise<void> {
    if (this.#session.busy) return;
    const at = this.summary?.cards.findIndex(({ id }) => id === card.id) ?? 0;
    if (!(await this.#session.remove(card))) return this.#showFault();
    this.#announceCard(this.#texts.announceRemoved, card);
    const cards = this.summary?.cards ?? [];
    const next = cards[Math.min(at, cards.length - 1)];
    if (!next) this.open = true;
    await this.#attention.focusOn(next ? `[data-remove="${CSS.escape(next.id)}"]` : "#number", "#apply");
  }

  async #leaveQuote(): Promise<void> {
    if (this.#session.busy) return;
    this.#session.quote = this.#session.fault = undefined;
    this.requestUpdate();
    await this.#attention.focusOn("#pin");
  }

  /** After a refusal: the PIN goes unless the very same call may be made again, and the focus goes to the first fault. */
  async #showFault(): Promise<void> {
    const { fault, quote } = this.#session;
    if (!fault) return;
    if (isPassing(fault.code)) return this.#attention.focusOn("#retry");
    if (fault.action !== "remove" && !quote) this.#fields.clearPin();
    // What the shop refused, it may know better by now.
    if (fault.action === "apply") void this.#session.load();
    const fields = fieldsOf[fault.code] ?? [];
    // With both in doubt it's the emptied one that has to be filled again.
    if (fields.length > 0) await this.#attention.focusOn(fields.includes("pin") ? "#pin" : "#number");
    else await this.#attention.focusOn();
  }

  #announceCard(text: string, card: AppliedCard): void {
    this.#attention.say(text, {
      last4: card.lastFour,
      amount: this.#amounts.money(card.amountCents),
      remaining: this.#amounts.money(this.summary?.remainingCents ?? 0),
    });
  }
}

function isAnotherCart(changed: PropertyValues<GiftcardPay>): boolean {
  return changed.has("endpoint") || changed.has("cart") || changed.has("publishableKey");
}
