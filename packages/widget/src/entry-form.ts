import type { CardEntry } from "@giftcard-pay/checkout/storefront";
import { html, type LitElement, nothing, type TemplateResult } from "lit";
import { type FieldName, isRetryable, refusedFields, type ShownError } from "./call-errors.js";
import { cardGlyph } from "./card-glyph.js";
import { deleteOverGap, showGroups } from "./digit-groups.js";
import { normalize, parseEntry } from "./entry-parser.js";
import { moveFocus } from "./focus.js";
import type { Messages } from "./messages/index.js";
import { clock } from "./wording.js";

/** What the form is told when it renders. */
export interface EntryFormState {
  texts: Messages;
  hidden: boolean;
  /** Its place is kept, and for a moment nothing is to be seen: the cart may need no form. */
  unsure: boolean;
  /** A card is being checked. */
  busy: boolean;
  /** Nothing can be sent: the page hasn't named the cart yet. */
  shut: boolean;
  /** Seconds until something can be sent again; 0 without a wait. */
  waitSeconds: number;
  /** What the alert shows; the fields that it is about are marked. */
  error: ShownError | undefined;
  check(): void;
  /** Puts the form away, where it can be. */
  cancel: (() => void) | undefined;
}

/** Card number and PIN while a shopper fills them in. What is typed stays in the fields: nothing here keeps it. */
export class EntryForm {
  /** Fields that were left empty. */
  missing: readonly FieldName[] = [];
  #pinShown = false;

  constructor(private readonly host: LitElement) {}

  /** Card number and PIN, normalized. Undefined where a field is empty: the focus goes to it. */
  take(): CardEntry | undefined {
    this.#spread();
    const empty = this.#empty;
    const [first] = empty;
    // Enter in the number goes on to the PIN: nothing is wrong yet.
    const goesOn = first === "pin" && this.host.shadowRoot?.activeElement?.id === "number";
    this.missing = goesOn ? [] : empty;
    this.host.requestUpdate();
    if (!first) return this.#entry;
    void moveFocus(this.host, `#${first}`);
    return undefined;
  }

  /** After a refusal: the PIN goes unless the very same call may be made again, and the focus goes to what is wrong. */
  async showError(error: ShownError, keepPin = false): Promise<void> {
    if (isRetryable(error.code)) return moveFocus(this.host, "#retry");
    if (!keepPin) this.clearPin();
    // With both in doubt it's the emptied one, which is the last, that has to be filled again.
    const [last] = refusedFields(error).slice(-1);
    await moveFocus(this.host, ...(last ? [`#${last}`] : []));
  }

  /** Whether nothing stands in either field. */
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
    const { texts, hidden, unsure, busy, shut, waitSeconds, check, cancel } = state;
    // A page in a sandbox sends no form: there it's the button that tells, also for Enter in a field.
    const onSubmit = (event: Event) => {
      event.preventDefault();
      check();
    };
    return html`<form part="form" novalidate class=${unsure ? "unsure" : ""} ?hidden=${hidden} @submit=${onSubmit}>
      ${this.#field("number", texts.cardNumber, texts.cardNumberMissing, state, cardGlyph)}
      <div class="pair">
        ${this.#field("pin", texts.pin, texts.pinMissing, state, this.#eye(texts))}
        <button part="button check" type="submit" class=${busy ? "busy" : ""} aria-disabled=${busy || shut || waitSeconds > 0} @click=${onSubmit}>
          ${busy ? texts.checking : texts.check}
          ${waitSeconds > 0 ? html`<span aria-hidden="true"> (${clock(waitSeconds)})</span>` : nothing}
        </button>
      </div>
      ${
        cancel
          ? html`<button part="button" type="button" class="plain" @click=${cancel}>${texts.cancel}</button>`
          : nothing
      }
    </form>`;
  }

  #eye({ showPin }: Messages): TemplateResult {
    return html`<button
      type="button"
      class="eye"
      aria-label=${showPin}
      aria-pressed=${this.#pinShown}
      aria-controls="pin"
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
   * One field. A PIN is a text field with its characters masked: a password field makes browsers offer to keep
   * card and PIN as a login.
   */
  #field(
    name: FieldName,
    label: string,
    missing: string,
    { busy, error }: EntryFormState,
    ornament: TemplateResult,
  ): TemplateResult {
    const isEmpty = this.missing.includes(name);
    const isRefused = refusedFields(error).includes(name);
    return html`<div class="field">
      <label part="label" for=${name}>${label}</label>
      <p class="error" part="error" id="${name}-missing" ?hidden=${!isEmpty}>${missing}</p>
      <div class="box">
        <input
          id=${name}
          part="input"
          class=${name === "pin" && !this.#pinShown ? "masked" : ""}
          type="text"
          inputmode=${this.host.inputMode || "numeric"}
          autocomplete="off"
          autocapitalize="off"
          autocorrect="off"
          spellcheck="false"
          data-1p-ignore
          data-lpignore="true"
          enterkeyhint=${name === "pin" ? "go" : "next"}
          maxlength="128"
          required
          ?readonly=${busy}
          aria-invalid=${isEmpty || isRefused}
          aria-describedby=${isEmpty ? `${name}-missing` : isRefused ? "error" : nothing}
          @paste=${this.#onPaste}
          @beforeinput=${this.#onDelete}
          @input=${this.#onInput}
          @compositionend=${this.#onInput}
          @blur=${this.#onLeave}
        />
        ${ornament}
      </div>
    </div>`;
  }

  /** A missing entry's message goes while it is typed; none comes. */
  readonly #onInput = (event?: Event): void => {
    // What is being composed is the input method's.
    if (!(event as InputEvent | undefined)?.isComposing) showGroups(this.#input("number"));
    const empty = this.#empty;
    this.missing = this.missing.filter((name) => empty.includes(name));
    this.host.requestUpdate();
  };

  /** A PIN has no groups. */
  readonly #onDelete = (event: InputEvent): void => {
    if (event.target === this.#input("number") && deleteOverGap(event)) this.#onInput();
  };

  /**
   * A field that is left empty while the other is filled is named. On the way to the button nothing is shown, which
   * would move the button from under a click: the button itself checks both.
   */
  readonly #onLeave = ({ target, relatedTarget }: FocusEvent): void => {
    this.#spread();
    const { id } = target as HTMLInputElement;
    const empty = this.#empty;
    if (
      !relatedTarget ||
      (relatedTarget as HTMLButtonElement).type === "submit" ||
      empty[0] !== id ||
      empty[1]
    )
      return;
    this.missing = empty;
    this.host.requestUpdate();
  };

  /** Number and PIN that were pasted together go to their own fields. */
  readonly #onPaste = (event: ClipboardEvent): void => {
    if (!this.#put(parseEntry(event.clipboardData?.getData("text/plain") ?? ""))) return;
    event.preventDefault();
    this.#input("pin").focus();
  };

  readonly #onTogglePin = (): void => {
    this.#pinShown = !this.#pinShown;
    this.host.requestUpdate();
  };

  /** A scanner types as a keyboard does, all into the field that has the focus. */
  #spread(): void {
    for (const name of ["number", "pin"] as const) {
      const { value } = this.#input(name);
      // Digits in groups are one entry, however they are spaced.
      if (/[^\d\s-]/.test(value)) this.#put(parseEntry(value));
    }
  }

  #put(entry: CardEntry | undefined): boolean {
    const pin = this.#input("pin");
    if (!entry || pin.readOnly) return false;
    if (entry.cardNumber) this.#input("number").value = entry.cardNumber;
    if (entry.pin) pin.value = entry.pin;
    this.#onInput();
    return true;
  }

  get #entry(): CardEntry {
    return { cardNumber: normalize(this.#input("number").value), pin: normalize(this.#input("pin").value) };
  }

  get #empty(): FieldName[] {
    const { cardNumber, pin } = this.#entry;
    return [...(cardNumber ? [] : ["number" as const]), ...(pin ? [] : ["pin" as const])];
  }

  #input(name: FieldName): HTMLInputElement {
    return this.host.renderRoot.querySelector(`#${name}`) as HTMLInputElement;
  }
}
