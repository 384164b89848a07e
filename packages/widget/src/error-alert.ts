import { html, nothing, type TemplateResult } from "lit";
import { isRetryable, type ShownError } from "./call-errors.js";
import { keyed } from "./keyed.js";
import type { Wording } from "./wording.js";

/** What the alert shows. */
export interface ErrorAlertState {
  words: Wording;
  error: ShownError;
  /** The wait that a refusal named, in seconds, as it was at first: one that ran down would be read aloud all the time. */
  waitSeconds: number;
  busy: boolean;
}

/** What went wrong and what to do; with the length of a wait. Each error is announced, also the same one again. */
export function errorAlert(state: ErrorAlertState, retry: () => void): TemplateResult {
  const { words, error, waitSeconds, busy } = state;
  const { texts } = words;
  const wait = error.code === "too_many_attempts" ? ` ${texts.wait}` : "";
  return keyed(
    error.count,
    html`<div class="alert" part="alert">
      <p class="error" part="error">
        ${words.fill(texts.errors[error.code] + wait, { time: words.duration(waitSeconds) })}
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
