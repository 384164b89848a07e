import {
  type CSSResult,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type TemplateResult,
} from "lit";
import { Calls } from "./calls.js";
import { EntryForm } from "./entry-form.js";
import { errorAlert } from "./error-alert.js";
import { styles } from "./giftcard-pay.styles.js";
import { hint } from "./hint.js";
import { LiveRegion } from "./live-region.js";
import {
  builtInLanguage,
  isLoaded,
  loadMessages,
  type MessageOverrides,
  messagesOf,
  withOverrides,
} from "./messages/index.js";
import { ShopApi, type Transport } from "./shop-api.js";
import { usableLocale, Wording } from "./wording.js";

/** How long a page waits for the texts of its language before it shows English. */
const languageMs = 1500;

/** What an element puts around the form, and what its buttons do. */
interface Frame {
  /** Names the whole for a screen reader. */
  title: string;
  before?: unknown;
  between?: unknown;
  after?: unknown;
  /** Told in place of what is to be read aloud, and to be seen. */
  notice?: string | false;
  hidden?: boolean;
  unsure?: boolean;
  disabled?: boolean;
  /** Nothing can be sent yet. */
  shut: boolean;
  check(): void;
  retry(): void;
  cancel?: (() => void) | undefined;
}

/**
 * What both elements are made of: where to call, the texts, and the parts that each of them uses in its own way.
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
export class GiftcardElement extends LitElement {
  static override styles: CSSResult = styles;

  // Declared here and not by decorators, whose helpers would weigh more than all of this.
  static override properties: PropertyDeclarations = {
    endpoint: {},
    publishableKey: { attribute: "publishable-key" },
    lang: { reflect: true },
    headers: { attribute: false },
    transport: { attribute: false },
    messages: { attribute: false },
  };

  /** The address of the shop's gift card routes, for example `https://shop.example/store/giftcard-pay`. */
  endpoint = "";

  /** Medusa's publishable API key, sent as `x-publishable-api-key`. */
  publishableKey = "";

  /** The language of the texts and amounts; without it, that of the nearest `lang`, then the browser's. */
  declare lang: string;

  /** Further headers of every call. */
  headers: Record<string, string> = {};

  /** Makes the calls in place of `fetch`. */
  transport: Transport | undefined;

  /** Texts of the page's own, on top of the language's; what they leave out stays as it is. */
  messages: MessageOverrides = {};

  #loading: Promise<void> | undefined;
  protected words!: Wording;
  protected readonly shop: ShopApi = new ShopApi(this);
  protected readonly entry: EntryForm = new EntryForm(this);
  protected readonly live: LiveRegion = new LiveRegion(this);

  protected readonly calls: Calls = new Calls(this, {
    slow: () => this.say(this.words.texts.slow),
    // A countdown that is read out each second can't be borne: every five minutes, at one, and at the end.
    wait: (seconds) => {
      const { words } = this;
      const { wait, waitOver } = words.texts;
      if (seconds === 60 || seconds % 300 === 0)
        this.say(seconds ? wait : waitOver, { time: words.duration(seconds) });
    },
  });

  /** Whether a call is under way. */
  get busy(): boolean {
    return !!this.calls.busy;
  }

  /** Puts the focus on the first field, or on what stands in its place. */
  override focus(options?: FocusOptions): void {
    const place = this.renderRoot.querySelector<HTMLElement>("#apply, form:not([hidden]) #number, #add");
    (place ?? this.renderRoot.querySelector<HTMLElement>("#summary"))?.focus(options);
  }

  /** Waits a moment for the language; what comes later takes the place of English then. */
  protected override async scheduleUpdate(): Promise<void> {
    const language = builtInLanguage(this.#locale);
    const loading = loadMessages(language);
    if (loading && loading !== this.#loading) {
      this.#loading = loading;
      void loading.then(() => this.requestUpdate());
      await Promise.race([loading, new Promise((resolve) => setTimeout(resolve, languageMs))]);
    }
    super.scheduleUpdate();
  }

  protected override willUpdate(_changed: Map<PropertyKey, unknown>): void {
    const locale = this.#locale;
    this.words = new Wording(locale, withOverrides(messagesOf(builtInLanguage(locale)), this.messages));
  }

  /** Has a screen reader read a text, filled in with values; a number is cents. */
  protected say(text: string, values: Record<string, string | number> = {}): void {
    this.live.say(this.words.fill(text, values));
  }

  /** The form with the alert above it, and what the element adds. */
  protected frame(frame: Frame): TemplateResult {
    const { words, calls } = this;
    const { error, busy, wait } = calls;
    const locale = this.#locale;
    const builtIn = builtInLanguage(locale);
    const shown = isLoaded(builtIn) ? builtIn : "en";
    const language = Object.keys(this.messages).length > 0 ? locale : shown;
    return html`<fieldset class="base" part="base" ?disabled=${frame.disabled} aria-label=${frame.title} lang=${language} dir=${/^(ar|fa|he|ur)\b/.test(language) ? "rtl" : "ltr"}>
      ${frame.before}
      <div role="alert" id="error" class=${error ? "" : "silent"}>
        ${error ? errorAlert({ words, error, waitSeconds: wait.total, busy: !!busy }, frame.retry) : nothing}
      </div>
      ${frame.between}
      ${this.entry.render({
        texts: words.texts,
        hidden: !!frame.hidden,
        unsure: !!frame.unsure,
        busy: busy === "quote" || busy === "balance",
        shut: frame.shut,
        waitSeconds: wait.seconds,
        error,
        check: frame.check,
        cancel: frame.cancel,
      })}
      ${frame.after}
      <div role="status" class=${frame.notice || calls.slow ? "hint" : "silent"}>${frame.notice || this.live.text}</div>
    </fieldset>`;
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
}

/** Registers a tag. Where it is registered already, whoever did it, nothing happens. */
export function register(
  tag: string,
  element: CustomElementConstructor,
  registry: CustomElementRegistry | undefined = globalThis.customElements,
): void {
  const known = registry?.get(tag);
  if (!registry || known === element) return;
  if (known) hint(`another copy of <${tag}> is on this page already.`);
  else if ("attachInternals" in element.prototype) registry.define(tag, element);
  else hint("this browser is too old for it.");
}
