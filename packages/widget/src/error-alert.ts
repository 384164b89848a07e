import { html, nothing, type TemplateResult } from "lit";
import { isRetryable, type ShownError } from "./call-errors.js";
import type { Calls } from "./calls.js";
import { keyed } from "./keyed.js";
import type { Wording } from "./wording.js";

/** Renders an error and what to do about it. A new `count` makes a screen reader announce it, even if the text repeats. */
export function errorAlert(
  words: Wording,
  error: ShownError,
  { waitSeconds, busy }: Calls,
  retry: () => void,
): TemplateResult {
  const { texts } = words;
  const wait = error.code === "too_many_attempts" ? ` ${texts.wait}` : "";
  return keyed(
    error.count,
    html`<div class="alert" part="alert">
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 7v6m0 3v1" /><circle cx="12" cy="12" r="10" /></svg>
      <p part="error">
        ${words.fill((error.reason || texts.errors[error.code]) + wait, { time: words.fromNow(waitSeconds) })}
      </p>
      ${
        isRetryable(error.code)
          ? html`<button part="button retry" id="retry" type="button" aria-disabled=${!!busy} @click=${retry}>
              ${texts.retry}
            </button>`
          : nothing
      }
    </div>`,
  );
}
