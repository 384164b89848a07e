import { type CSSResult, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from "lit";
import { refusedFields } from "./call-errors.js";
import { Calls } from "./calls.js";
import { EntryForm } from "./entry-form.js";
import { errorAlert } from "./error-alert.js";
import { moveFocus } from "./focus.js";
import { styles } from "./giftcard-pay.styles.js";
import { hint } from "./hint.js";
import { languageOf, loadMessages, type MessageOverrides, textsFor } from "./messages/index.js";
import { type OwnTexts, renderOwn } from "./own-texts.js";
import type { Transport } from "./shop-api.js";
import { usableLocale, Wording } from "./wording.js";

/** After this time an element shows English if the texts of its language are not loaded yet. */
const languageMs = 1500;

/** The content that an element adds around the form, and the actions of the buttons. */
interface Frame {
  /** The name of the whole element for a screen reader. */
  title: string;
  /** The text of the form's button. */
  action: string;
  before?: unknown;
  between?: unknown;
  after?: unknown;
  hidden?: boolean;
  isPlaceholder?: boolean;
  disabled?: boolean;
  /** Nothing can be sent yet. */
  isLocked: boolean;
  check(): void;
  retry(): void;
  cancel?: (() => void) | undefined;
}

/**
 * The base of both elements: the shop's address, the texts, and the shared parts.
 *
 * @slot title - A heading above the form.
 * @slot number-help - Help below the card number; screen readers read it with the field.
 * @slot pin-help - Help below the PIN, for example where the card shows it; screen readers read it with the field.
 * @slot terms - The end of the element, for terms or a link to them.
 *
 * @csspart base - The whole element.
 * @csspart form - The form for card number and PIN.
 * @csspart label - The label of a field.
 * @csspart input - A field.
 * @csspart reveal - The button that shows the PIN.
 * @csspart quote - A checked card that is not applied.
 * @csspart name - The last four digits of a card.
 * @csspart glyph - The picture of a gift.
 * @csspart amount - An amount.
 * @csspart hint - Small print: expiry date, what stays on a card, or that nothing is taken yet.
 * @csspart alert - What keeps a card from being used and belongs to no field, such as a wait or a limit.
 * @csspart error - The text of an error, in the alert or below a field.
 * @csspart status - The text of a pending call, or the text for screen readers.
 *
 * @cssproperty [--giftcard-pay-accent=#1f4fd1] - Colour of the main button and the focus ring.
 * @cssproperty [--giftcard-pay-on-accent=#fff] - Text colour of the main button.
 * @cssproperty [--giftcard-pay-error] - Colour of errors; by default a red mixed with the text colour.
 * @cssproperty [--giftcard-pay-notice] - Colour of the alert's border and icon; by default an amber mixed with the text colour.
 * @cssproperty [--giftcard-pay-border] - Border colour of panels.
 * @cssproperty [--giftcard-pay-field] - Background of fields.
 * @cssproperty [--giftcard-pay-field-border] - Border colour of fields and buttons.
 * @cssproperty [--giftcard-pay-surface] - Background of panels.
 * @cssproperty [--giftcard-pay-focus] - Colour of the focus ring; by default the accent mixed with the text colour.
 * @cssproperty [--giftcard-pay-radius=8px] - Corner radius.
 * @cssproperty [--giftcard-pay-gap=16px] - Space between the parts.
 */
export class GiftcardElement extends LitElement {
  static override styles: CSSResult = styles;

  // The helpers of decorators would be larger than this list.
  static override properties: PropertyDeclarations = {
    endpoint: {},
    publishableKey: { attribute: "publishable-key" },
    lang: {},
    headers: { attribute: false },
    transport: { attribute: false },
    messages: { attribute: false },
  };

  /** The URL of the shop's gift card routes, for example `https://shop.example/store/giftcard-pay`. */
  endpoint = "";

  /** Medusa's publishable API key, sent as `x-publishable-api-key`. */
  publishableKey = "";

  /** The language of texts and amounts. By default the nearest `lang` attribute, then the browser's language. */
  declare lang: string;

  /** Additional headers of every call. */
  headers: HeadersInit = {};

  /** A function that replaces `fetch`. */
  transport: Transport | undefined;

  /** The page's own texts. They override the built-in ones. A language that is not built in needs all of them. */
  messages: MessageOverrides = {};

  #loading: Promise<void> | undefined;
  #ownTexts: OwnTexts = [];
  protected words!: Wording;
  protected readonly entry: EntryForm = new EntryForm(this);

  /** The text of the live region, which screen readers announce. */
  protected spoken = "";

  readonly #langObserver = globalThis.MutationObserver && new MutationObserver(() => this.requestUpdate());

  protected readonly calls: Calls = new Calls(this, (isWaitOver) => {
    const { slow, waitOver } = this.words.texts;
    this.say(isWaitOver ? waitOver : slow);
  });

  /** @ignore */
  override connectedCallback(): void {
    super.connectedCallback();
    this.#langObserver?.observe(document, { subtree: true, attributeFilter: ["lang"] });
  }

  /** @ignore */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#langObserver?.disconnect();
  }

  /** Keeps everything as it is if the page moves the element by `moveBefore`. @ignore */
  connectedMoveCallback(): void {}

  /** Whether a call is pending. */
  get busy(): boolean {
    return !!this.calls.busy;
  }

  /** Focuses the first field, or if it is hidden, the button or summary shown instead. */
  override focus(options?: FocusOptions): void {
    const find = (selector: string) => this.renderRoot.querySelector<HTMLElement>(selector);
    (find("#apply, form:not([hidden]) #number, #add") ?? find("#summary") ?? find(".base"))?.focus(options);
  }

  /** Delays the render for a moment until the language is loaded. If it loads later, it then replaces English. */
  protected override async scheduleUpdate(): Promise<void> {
    const loading = loadMessages(languageOf(this.#locale));
    if (loading && loading !== this.#loading) {
      this.#loading = loading;
      void loading.then(() => this.requestUpdate());
      await Promise.race([loading, new Promise((resolve) => setTimeout(resolve, languageMs))]);
    }
    super.scheduleUpdate();
  }

  protected override update(changed: Map<PropertyKey, unknown>): void {
    this.#ownTexts = renderOwn(this.#ownTexts, this.renderRoot, () => super.update(changed));
  }

  /** Returns the currency of the shop's last answer. */
  protected currency(): string | undefined {
    return undefined;
  }

  protected override willUpdate(_changed: Map<PropertyKey, unknown>): void {
    this.words = new Wording(...textsFor(this.#locale, this.messages), this.currency());
  }

  /**
   * Announces a text to screen readers, filled in with values; a number is an amount in cents. A repeated text gets a
   * space, since screen readers ignore a region that did not change.
   */
  protected say(text: string, values: Record<string, string | number> = {}): void {
    const filled = this.words.fill(text, values);
    this.spoken = filled === this.spoken ? `${filled}\u00a0` : filled;
    this.requestUpdate();
  }

  /** Renders the form, the alert below it, and the element's own content. */
  protected frame(frame: Frame): TemplateResult {
    const { words, calls } = this;
    const { error, busy, slow, secondsLeft } = calls;
    // The form shows an error about a field there.
    const notice = refusedFields(error).length ? undefined : error;
    const isReading = busy === "quote" || busy === "balance";
    return html`<fieldset class="base" part="base" tabindex="-1" ?disabled=${frame.disabled} aria-label=${frame.title} lang=${words.locale} dir=${/^(ar|fa|he|ur)\b/.test(words.locale) ? "rtl" : "ltr"}>
      <slot name="title"></slot>
      ${frame.before}
      ${frame.between}
      ${this.entry.render({
        texts: words.texts,
        action: frame.action,
        hidden: !!frame.hidden,
        isPlaceholder: !!frame.isPlaceholder,
        busy: isReading,
        isLocked: frame.isLocked || secondsLeft > 0,
        error,
        check: frame.check,
        cancel: isReading && slow ? this.#stop : frame.cancel,
      })}
      <div role="alert" id="error" class=${notice ? "" : "silent"}>
        ${notice ? errorAlert(words, notice, calls, frame.retry) : nothing}
      </div>
      ${frame.after}
      <slot name="terms"></slot>
      <div role="status" part="status" class=${slow ? "hint" : "silent"}>${this.spoken}</div>
    </fieldset>`;
  }

  /** Drops a slow call that changes nothing. */
  readonly #stop = (): void => {
    this.calls.stop();
    void moveFocus(this, "#pin");
  };

  get #locale(): string {
    return usableLocale(...langsOf(this), globalThis.navigator?.language);
  }
}

/** Returns the `lang` attributes of an element and everything around it, also beyond shadow roots. */
function* langsOf(element: HTMLElement): Generator<string | undefined> {
  let node: (Node & { lang?: string; host?: Node }) | null | undefined = element;
  for (; node; node = node.parentNode ?? node.host) yield node.lang;
}

/** Registers a tag. If another copy of the widget has registered it, or the browser is too old, logs a hint instead. */
export function register(
  tag: string,
  element: CustomElementConstructor,
  registry: CustomElementRegistry | undefined = globalThis.customElements,
): void {
  const registered = registry?.get(tag);
  if (!registry || registered === element) return;
  if (registered) hint(`another copy of <${tag}> is already on this page.`);
  else if ("attachInternals" in element.prototype) registry.define(tag, element);
  else hint("this browser is too old for the widget.");
}
