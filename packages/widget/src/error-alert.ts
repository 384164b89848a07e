import { html, nothing, type TemplateResult } from "lit";
import { isRetryable, type ShownError } from "./call-errors.js";
import { keyed } from "./keyed.js";
import type { Wording } from "./wording.js";

/** The input of {@link errorAlert}. */
export interface ErrorAlertState {
  words: Wording;
  error: ShownError;
  /** The length of the whole wait. With the seconds left, a screen reader would read the alert again every second. */
  waitSeconds: number;
  busy: boolean;
}

/** Renders an error and what to do about it. A new `count` makes a screen reader announce it, even if the text repeats. */
export function errorAlert(state: ErrorAlertState, retry: () => void): TemplateResult {
  const { words, error, waitSeconds, busy } = state;
  const { texts } = words;
  const wait = error.code === "too_many_attempts" ? ` ${texts.wait}` : "";
  return keyed(
    error.count,
    html`<div class="alert" part="alert">
      <p class="error" part="error">
        ${words.fill((error.reason || texts.errors[error.code]) + wait, { time: words.duration(waitSeconds) })}
      </p>
      ${
        isRetryable(error.code)
          ? html`<button part="button retry" id="retry" type="button" aria-disabled=${busy} @click=${retry}>
              ${texts.retry}
            </button>`
          : nothing
      }
    </div>`,
  );
}
