import { html, nothing, type TemplateResult } from "lit";
import type { Messages } from "./messages/index.js";
import { clock } from "./wording.js";

/** The two fields, in the order in which they stand. */
export type FieldName = "number" | "pin";

/** What the form shows. What is typed in it stands in its fields and nowhere else. */
export interface EntryFormState {
  messages: Messages;
  hidden: boolean;
  /** A call is under way. */
  busy: boolean;
  /** Nothing can be sent: the page hasn't named the cart yet. */
  shut: boolean;
  /** Seconds until something can be sent again; 0 without a wait. */
  waitSeconds: number;
  /** Fields left empty. */
  missing: readonly FieldName[];
  /** Fields that the message in the alert is about. */
  refused: readonly FieldName[];
  pinShown: boolean;
  cancelable: boolean;
  keyboard: string;
}

/** What the form tells its element. */
export interface EntryFormActions {
  submit(event: SubmitEvent): void;
  paste(event: ClipboardEvent): void;
  input(): void;
  leave(event: FocusEvent): void;
  togglePin(): void;
  cancel(): void;
}

/** Card number and PIN. */
export function entryForm(state: EntryFormState, on: EntryFormActions): TemplateResult {
  const { messages, waitSeconds } = state;
  return html`<form part="form" novalidate ?hidden=${state.hidden} @submit=${on.submit}>
    <div class="fields">
      <div class="field wide">
        <label part="label" for="number">${messages.cardNumber}</label>
        ${field(state, "number", on)} ${missing(state, "number", messages.cardNumberMissing)}
      </div>
      <div class="field">
        <label part="label" for="pin">${messages.pin}</label>
        <div class="pin">
          ${field(state, "pin", on)}
          <button
            type="button"
            class="eye"
            aria-label=${messages.showPin}
            aria-pressed=${state.pinShown}
            aria-controls="pin"
            @click=${on.togglePin}
          >
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path d="M2 12S6 6 12 6s10 6 10 6-4 6-10 6S2 12 2 12Z" />
              <circle cx="12" cy="12" r="3" />
              <path class="slash" d="m4 4 16 16" />
            </svg>
          </button>
        </div>
        ${missing(state, "pin", messages.pinMissing)}
      </div>
    </div>
    <div class="actions">
      <button part="button check" type="submit" class="grow" aria-disabled=${state.busy || state.shut || waitSeconds > 0}>
        ${state.busy ? messages.checking : messages.check + (waitSeconds > 0 ? ` (${clock(waitSeconds)})` : "")}
      </button>
      ${
        state.cancelable
          ? html`<button part="button" type="button" class="plain" @click=${on.cancel}>${messages.cancel}</button>`
          : nothing
      }
    </div>
  </form>`;
}

/**
 * One field. A PIN is a text field with its characters masked: a password field makes browsers offer to keep
 * card and PIN as a login.
 */
function field(state: EntryFormState, name: FieldName, on: EntryFormActions): TemplateResult {
  const empty = state.missing.includes(name);
  const refused = state.refused.includes(name);
  return html`<input
    id=${name}
    part="input"
    class=${name === "pin" && !state.pinShown ? "masked" : ""}
    type="text"
    inputmode=${state.keyboard}
    autocomplete="off"
    autocapitalize="off"
    autocorrect="off"
    spellcheck="false"
    data-1p-ignore
    data-lpignore="true"
    enterkeyhint=${name === "pin" ? "go" : "next"}
    maxlength="128"
    required
    ?readonly=${state.busy}
    aria-invalid=${empty || refused}
    aria-describedby=${empty ? `${name}-missing` : refused ? "fault" : nothing}
    @paste=${on.paste}
    @input=${on.input}
    @blur=${on.leave}
  />`;
}

function missing(state: EntryFormState, name: FieldName, text: string): TemplateResult {
  return html`<p class="error" part="error" id="${name}-missing" ?hidden=${!state.missing.includes(name)}>${text}</p>`;
}
