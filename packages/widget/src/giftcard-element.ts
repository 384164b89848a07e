import type { CardEntry } from "@giftcard-pay/checkout/storefront";
import {
  type CSSResult,
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type TemplateResult,
} from "lit";
import { Attention } from "./attention.js";
import { EntryFields } from "./entry-fields.js";
import { entryForm } from "./entry-form.js";
import type { Action } from "./events.js";
import { faultAlert } from "./fault-alert.js";
import { fieldsOf, isPassing } from "./faults.js";
import { styles } from "./giftcard-pay.styles.js";
import {
  builtInLanguage,
  loadMessages,
  type MessageOverrides,
  messagesOf,
  withOverrides,
} from "./messages/index.js";
import type { ShopAddress, Transport } from "./shop-api.js";
import type { ShopCalls, Waiting } from "./shop-calls.js";
import { usableLocale, Wording } from "./wording.js";

/** How long one call may take before it counts as lost. */
const timeoutMs = 20_000;

/** What an element puts around its entry. */
interface Frame {
  /** Names the whole for a screen reader. */
  title: string;
  before?: unknown;
  between?: unknown;
  after?: unknown;
  hidden?: boolean;
  cancelable?: boolean;
  disabled?: boolean;
}

/** What both elements share: the entry of a card, where to call, texts, faults, and who hears of them. */
export abstract class GiftcardElement extends LitElement {
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

  protected words!: Wording;
  protected abstract readonly calls: ShopCalls;
  protected readonly attention: Attention = new Attention(this);
  protected readonly fields: EntryFields = new EntryFields(this);

  protected readonly waiting: Waiting = {
    slow: () => this.attention.say(this.words.texts.slow),
    // A countdown that is read out each second can't be borne: every five minutes, at one, and at the end.
    wait: (seconds) => {
      const { words } = this;
      const { wait, waitOver } = words.texts;
      if (seconds === 60 || seconds % 300 === 0)
        this.attention.say(seconds ? words.fill(wait, { time: words.duration(seconds) }) : waitOver);
    },
  };

  /** Whether a call is under way. */
  get busy(): boolean {
    return !!this.calls.busy;
  }

  protected get ready(): boolean {
    return this.endpoint !== "";
  }

  protected get address(): ShopAddress {
    const { endpoint, publishableKey, headers, transport } = this;
    return { endpoint, publishableKey, headers, transport, timeoutMs };
  }

  /** Puts the focus on the first field, or on what stands in its place. */
  override focus(options?: FocusOptions): void {
    const place = this.renderRoot.querySelector<HTMLElement>("#apply, form:not([hidden]) #number, #add");
    (place ?? this.renderRoot.querySelector<HTMLElement>("#summary"))?.focus(options);
  }

  protected override async scheduleUpdate(): Promise<void> {
    await loadMessages(builtInLanguage(this.#locale));
    super.scheduleUpdate();
  }

  protected override willUpdate(_changed: Map<PropertyKey, unknown>): void {
    const locale = this.#locale;
    this.words = new Wording(locale, withOverrides(messagesOf(builtInLanguage(locale)), this.messages));
  }

  /** What is asked for with a whole entry. */
  protected abstract send(entry: CardEntry): Promise<void>;

  /** Tries again what met a fault, other than sending the entry. */
  protected retry(_action: Action): void {}

  /** Puts the further entry away. */
  protected close(): void {}

  protected async check(): Promise<void> {
    const { calls, fields } = this;
    if (calls.busy || !this.ready || calls.wait.seconds > 0) return;
    const entry = fields.take();
    if (entry) await this.send(entry);
    else await this.attention.focusOn(`#${fields.missing[0]}`);
  }

  /** After a refusal: the PIN goes unless the very same call may be made again, and the focus goes to the first fault. */
  protected async showFault(keepPin = false): Promise<void> {
    const { fault } = this.calls;
    if (!fault) return;
    if (isPassing(fault.code)) return this.attention.focusOn("#retry");
    if (!keepPin) this.fields.clearPin();
    const [first, second] = fieldsOf[fault.code] ?? [];
    // With both in doubt it's the emptied one that has to be filled again.
    await this.attention.focusOn(...(first ? [`#${second ?? first}`] : []));
  }

  protected frame({ title, before, between, after, hidden, cancelable, disabled }: Frame): TemplateResult {
    const { words, calls, fields, attention } = this;
    const { fault, busy, wait } = calls;
    const locale = this.#locale;
    const language = Object.keys(this.messages).length > 0 ? locale : builtInLanguage(locale);
    return html`<fieldset class="base" part="base" ?disabled=${disabled} aria-label=${title} lang=${language}>
      ${before}
      <div role="alert" id="fault" class=${fault ? "" : "silent"}>
        ${fault ? faultAlert({ words, fault, waitSeconds: wait.total, busy: !!busy }, this.#onRetry) : nothing}
      </div>
      ${between}
      ${entryForm(
        {
          messages: words.texts,
          hidden: !!hidden,
          busy: busy === "quote" || busy === "balance",
          shut: !this.ready,
          waitSeconds: wait.seconds,
          missing: fields.missing,
          refused: (fault && fieldsOf[fault.code]) ?? [],
          pinShown: fields.pinShown,
          cancelable: !!cancelable,
          keyboard: this.inputMode || "numeric",
        },
        {
          submit: this.#onSubmit,
          paste: fields.onPaste,
          input: fields.onInput,
          leave: fields.onLeave,
          togglePin: fields.onTogglePin,
          cancel: this.#onClose,
        },
      )}
      ${after}
      <div role="status" class=${calls.slow ? "hint" : "silent"}>${attention.announcement}</div>
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

  readonly #onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    void this.check();
  };

  readonly #onClose = (): void => this.close();

  readonly #onRetry = (): void => {
    const { fault } = this.calls;
    if (fault?.action === "quote" || fault?.action === "balance") void this.check();
    else if (fault) this.retry(fault.action);
  };
}

/** Registers a tag. Where it is registered already, whoever did it, nothing happens. */
export function register(
  tag: string,
  element: CustomElementConstructor,
  registry: CustomElementRegistry | undefined = globalThis.customElements,
): void {
  if (registry && !registry.get(tag)) registry.define(tag, element);
}
