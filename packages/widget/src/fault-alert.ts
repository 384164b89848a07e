import { html, nothing, type TemplateResult } from "lit";
import type { DirectiveResult } from "lit/directive.js";
import { keyed } from "lit/directives/keyed.js";
import type { Amounts } from "./amounts.js";
import { type Fault, isPassing } from "./faults.js";
import { fill, type Messages } from "./messages/index.js";

/** What the alert shows. */
export interface FaultAlertState {
  messages: Messages;
  amounts: Amounts;
  fault: Fault;
  /** The wait that a refusal named, in seconds, as it was at first: one that ran down would be read aloud all the time. */
  waitSeconds: number;
  busy: boolean;
}

/** What went wrong and what to do; with the length of a wait. Each fault is announced, also the same one again. */
export function faultAlert(state: FaultAlertState, retry: () => void): DirectiveResult {
  return keyed(state.fault.count, alert(state, retry));
}

function alert(
  { messages, amounts, fault, waitSeconds, busy }: FaultAlertState,
  retry: () => void,
): TemplateResult {
  return html`<div class="alert" part="alert">
    <p class="error" part="error">
      ${messages.errors[fault.code]}
      ${fault.code === "too_many_attempts" ? fill(messages.wait, { time: amounts.duration(waitSeconds) }) : nothing}
    </p>
    ${
      isPassing(fault.code)
        ? html`<button part="button retry" id="retry" type="button" aria-disabled=${busy} @click=${retry}>
            ${messages.retry}
          </button>`
        : nothing
    }
  </div>`;
}
