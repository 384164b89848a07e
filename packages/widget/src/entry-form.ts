import type { CardEntry } from "@giftcard-pay/checkout/storefront";
import { html, type LitElement, nothing, type TemplateResult } from "lit";
import { type FieldName, fieldNames, isRetryable, refusedFields, type ShownError } from "./call-errors.js";
import { cardGlyph } from "./card-glyph.js";
import { showGroups, skipGap } from "./digit-groups.js";
import { normalize, normalizePin, parseEntry } from "./entry-parser.js";
import { moveFocus } from "./focus.js";
import { keyed } from "./keyed.js";
import type { Messages } from "./messages/index.js";

/** The input of {@link EntryForm.render}. */
export interface EntryFormState {
  texts: Messages;
  /** The text of the button. */
  action: string;
  hidden: boolean;
  /** The cart is not loaded yet and may need no form, so the form stays invisible for a moment but keeps its space. */
  isPlaceholder: boolean;
  /** A card is being checked. */
  busy: boolean;
  /** Nothing can be sent, since the page has not set the cart yet, or during a wait. */
  isLocked: boolean;
  /** The error on display. If it is about a field, the form shows it there. */
  error: ShownError | undefined;
  check(): void;
  /** Closes the form, or stops the check; undefined if neither is possible. */
  cancel: (() => void) | undefined;
}

/** DOM events that contain typed text. */
const typing = ["keydown", "keypress", "keyup", "beforeinput", "input", "compositionupdate", "compositionend", "paste"];

/** Keeps typed text from listeners around the element, and a held Enter from confirming a card that was never seen. */
function onTyping(event: Event): void {
  // Content of the page in a slot is its own.
  if (event.target !== event.currentTarget) return;
  const { key = "", repeat } = event as KeyboardEvent;
  if (repeat && key === "Enter") event.preventDefault();
  // Pages use other keys, such as Escape and Tab, for their dialogs.
  if (key.length < 2) event.stopImmediatePropagation();
}

/** The fields for card number and PIN. The shopper's input stays in the fields: this class stores none of it. */
export class EntryForm {
  /** The fields that the shopper left empty. */
  missing: readonly FieldName[] = [];
  /** Whether the shopper has changed a field since the entry was read. */
  isEdited = false;
  #pinShown = false;

  constructor(private readonly host: LitElement) {
    for (const type of typing) host.addEventListener(type, onTyping);
  }

  /** Returns the normalized card number and PIN. If a field is empty, focuses it and returns undefined. */
  readEntry(): CardEntry | undefined {
    // A scanner types both into the focused field, as a keyboard would. A script may tell nobody what it filled in.
    for (const name of fieldNames) this.#fillIn(name, this.#input(name).value);
    const empty = this.#empty;
    const [first] = empty;
    // Enter in the number moves on to the PIN. That the PIN is empty is no mistake yet.
    const movesOn = first === "pin" && this.host.shadowRoot?.activeElement?.id === "number";
    this.missing = movesOn ? [] : empty;
    this.host.requestUpdate();
    this.isEdited = false;
    if (!first) return this.#entry;
    void moveFocus(this.host, `#${first}`);
    return undefined;
  }

  /** Focuses the refused field, or the retry button. It clears the PIN, unless the shopper may repeat the same call. */
  async showError(error: ShownError, keepPin = false): Promise<void> {
    if (isRetryable(error.code)) return moveFocus(this.host, "#retry");
    if (!keepPin) this.clearPin();
    // If both fields may be wrong, focus the PIN (the last): it was cleared and has to be entered again.
    const [last] = refusedFields(error).slice(-1);
    await moveFocus(this.host, ...(last ? [`#${last}`] : []));
  }

  /** Whether both fields are empty. */
  get isBlank(): boolean {
    return !this.host.hasUpdated || this.#empty.length === 2;
  }

  clearPin(): void {
    this.#input("pin").value = "";
    this.#pinShown = false;
    this.host.requestUpdate();
  }

  clear(): void {
    this.clearPin();
    this.#input("number").value = "";
    this.missing = [];
  }

  render(state: EntryFormState): TemplateResult {
    const { texts, action, hidden, isPlaceholder, busy, isLocked, check, cancel } = state;
    const isReady = this.host.hasUpdated && !this.#empty.length;
    // A sandboxed page never fires `submit`. It does fire `click` on the button, also for Enter in a field.
    const onSubmit = (event: Event) => {
      event.preventDefault();
      check();
    };
    return html`<form part="form" novalidate class=${isPlaceholder ? "placeholder" : ""} ?hidden=${hidden} @submit=${onSubmit}>
      ${this.#field("number", texts.cardNumber, texts.cardNumberMissing, state, cardGlyph)}
      ${this.#field(
        "pin",
        texts.pin,
        texts.pinMissing,
        state,
        this.#eye(texts),
        html`<button
          part="button check"
          type="submit"
          class="${isReady ? "primary" : ""} ${busy ? "busy" : ""}"
          aria-disabled=${busy || isLocked}
          @click=${onSubmit}
        >
          ${action}
        </button>`,
      )}
      ${cancel ? html`<button part="button cancel" type="button" class="plain" @click=${cancel}>${texts.cancel}</button>` : nothing}
    </form>`;
  }

  #eye({ showPin }: Messages): TemplateResult {
    return html`<button
      type="button"
      class="eye"
      part="reveal"
      aria-label=${showPin}
      aria-pressed=${this.#pinShown}
      @click=${this.#onTogglePin}
    >
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M2 12S6 6 12 6s10 6 10 6-4 6-10 6S2 12 2 12Z" />
        <circle cx="12" cy="12" r="3" />
        <path class="slash" d="m4 4 16 16" />
      </svg>
    </button>`;
  }

  /**
   * Renders a field. The PIN is a masked text field: for a password field, browsers would offer to save number and PIN as
   * a login. Session recorders hide both: rrweb by `data-rr-is-password`, LogRocket by `data-private`, FullStory by
   * `fs-exclude`. The others record no input by default.
   */
  #field(
    name: FieldName,
    label: string,
    missing: string,
    { texts, busy, error }: EntryFormState,
    decoration: TemplateResult,
    button?: TemplateResult,
  ): TemplateResult {
    const isEmpty = this.missing.includes(name);
    const refused = refusedFields(error);
    const isRefused = refused.includes(name);
    const [shownAt] = isEmpty ? [name] : refused.slice(-1);
    const text = isEmpty ? missing : error && shownAt === name && texts.errors[error.code];
    return html`<div class="field">
      <label part="label" for=${name}>${label}</label>
      <div class="line">
        <div class="box">
          <input
            id=${name}
            part="input"
            class="fs-exclude ${name === "pin" && !this.#pinShown ? "masked" : ""}"
            type="text"
            inputmode=${this.host.inputMode || "numeric"}
            autocomplete="off"
            autocapitalize="off"
            autocorrect="off"
            spellcheck="false"
            data-1p-ignore
            data-lpignore="true"
            data-rr-is-password
            data-private
            enterkeyhint=${name === "pin" ? "go" : "next"}
            maxlength="128"
            required
            ?readonly=${busy}
            aria-invalid=${isEmpty || isRefused}
            aria-describedby="${isRefused ? shownAt : name}-error ${name}-help"
            @paste=${this.#onPaste}
            @beforeinput=${skipGap}
            @input=${this.#onInput}
            @compositionend=${this.#onInput}
            @change=${this.#onInput}
          />
          ${decoration}
        </div>
        ${button}
      </div>
      <div class="below">
        <div role="alert" id="${name}-error">
          ${text ? keyed(error?.count ?? 0, html`<p class="error" part="error">${text}</p>`) : nothing}
        </div>
        <slot name="${name}-help" id="${name}-help"></slot>
      </div>
    </div>`;
  }

  /** Removes the message of an empty field while the shopper types. It never adds one. */
  readonly #onInput = (event?: Event): void => {
    this.isEdited ||= !!event;
    // A scanner may type a space after the number, then the PIN. Groups that a person types are complete before a space.
    if (/^(\d{4} ){4,}\d{1,3} $/.test(this.#input("number").value)) this.#input("pin").focus();
    // Leave the text alone while an input method composes it, and as an undo restores it.
    const { isComposing, inputType = "", data, target } = (event ?? {}) as Partial<InputEvent>;
    if (!isComposing && !inputType.includes("history")) {
      // A keyboard's clipboard, a drop, dictation, or a password manager inserts number and PIN without a paste event.
      const { id, value } = (target ?? {}) as HTMLInputElement;
      if (id && data?.length !== 1 && (this.#fillIn(id, value) || this.#fillIn(id, data ?? ""))) return;
      showGroups(this.#input("number"));
    }
    const empty = this.#empty;
    this.missing = this.missing.filter((name) => empty.includes(name));
    this.host.requestUpdate();
  };

  /** Puts number and PIN that were pasted together into their own fields. */
  readonly #onPaste = (event: ClipboardEvent): void => {
    const { id } = event.target as HTMLInputElement;
    if (!this.#fillIn(id, event.clipboardData?.getData("text/plain") ?? "", true)) return;
    event.preventDefault();
    this.#input("pin").focus();
  };

  readonly #onTogglePin = (): void => {
    this.#pinShown = !this.#pinShown;
    this.host.requestUpdate();
  };

  /**
   * Fills in number and PIN from a text.
   * @param name the field that has the text, or into which it is pasted
   * @returns false if it is neither, or may be several
   */
  #fillIn(name: string, text: string, isPasted = false): boolean {
    const entry = parseEntry(text);
    const pin = this.#input("pin");
    if (!entry || pin.readOnly) return false;
    // A PIN may look like one with a label, such as "code1234".
    if (name === "pin" && !entry.cardNumber && !/[\s:]/.test(text)) return false;
    if (entry.cardNumber || (!isPasted && name === "number")) this.#input("number").value = entry.cardNumber;
    if (entry.pin || (!isPasted && name === "pin")) pin.value = entry.pin;
    this.#onInput();
    return true;
  }

  get #entry(): CardEntry {
    return { cardNumber: this.#read("number"), pin: this.#read("pin") };
  }

  get #empty(): FieldName[] {
    return fieldNames.filter((name) => !this.#read(name));
  }

  #read(name: FieldName): string {
    return (name === "pin" ? normalizePin : normalize)(this.#input(name).value);
  }

  #input(name: FieldName): HTMLInputElement {
    return this.host.renderRoot.querySelector(`#${name}`) as HTMLInputElement;
  }
}
