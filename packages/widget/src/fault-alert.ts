import { html, nothing, type TemplateResult } from "lit";
import { type Fault, isPassing } from "./faults.js";
import { fresh } from "./fresh.js";
import type { Wording } from "./wording.js";

/** What the alert shows. */
export interface FaultAlertState {
  words: Wording;
  fault: Fault;
  /** The wait that a refusal named, in seconds, as it was at first: one that ran down would be read aloud all the time. */
  waitSeconds: number;
  busy: boolean;
}

/** What went wrong and what to do; with the length of a wait. Each fault is announced, also the same one again. */
export function faultAlert(state: FaultAlertState, retry: () => void): TemplateResult {
  const { words, fault, waitSeconds, busy } = state;
  const { texts } = words;
  const wait = fault.code === "too_many_attempts" ? ` ${texts.wait}` : "";
  return fresh(
    fault.count,
    html`<div class="alert" part="alert">
      <p class="error" part="error">
        ${words.fill(texts.errors[fault.code] + wait, { time: words.duration(waitSeconds) })}
      </p>
      ${
        isPassing(fault.code)
          ? html`<button part="button retry" id="retry" type="button" aria-disabled=${busy} @click=${retry}>
              ${texts.retry}
            </button>`
          : nothing
      }
    </div>`,
  );
}
