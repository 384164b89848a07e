import { html, nothing, type TemplateResult } from "lit";
import type { DirectiveResult } from "lit/directive.js";
import { keyed } from "lit/directives/keyed.js";
import { type Amounts, clock } from "./amounts.js";
import type { Countdown } from "./countdown.js";
import { type Fault, isPassing } from "./faults.js";
import { fill, type Messages } from "./messages/index.js";

/** What the alert shows. */
export interface FaultAlertState {
  messages: Messages;
  amounts: Amounts;
  fault: Fault;
  wait: Countdown;
  busy: boolean;
}

/** What went wrong and what to do; with a countdown while there is a wait. Each fault is announced, also the same one again. */
export function faultAlert(state: FaultAlertState, retry: () => void): DirectiveResult {
  return keyed(state.fault.count, alert(state, retry));
}

function alert({ messages, amounts, fault, wait, busy }: FaultAlertState, retry: () => void): TemplateResult {
  const { seconds } = wait;
  return html`<div class="alert" part="alert">
    <p class="error" part="error">
      ${messages.errors[fault.code]}
      ${seconds > 0 ? fill(messages.wait, { time: amounts.duration(wait.total) }) : nothing}
    </p>
    ${seconds > 0 ? html`<span role="timer" aria-live="off" class="strong">${clock(seconds)}</span>` : nothing}
    ${
      isPassing(fault.code)
        ? html`<button part="button retry" id="retry" type="button" aria-disabled=${busy} @click=${retry}>
            ${messages.retry}
          </button>`
        : nothing
    }
  </div>`;
}
