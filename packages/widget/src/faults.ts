import type { FieldName } from "./entry-form.js";
import type { Action } from "./events.js";
import type { FaultCode } from "./messages/index.js";

/** What went wrong, and while doing what. `count` tells two alike apart, so that the second is announced too. */
export interface Fault {
  code: FaultCode;
  action: Action;
  count: number;
}

const both = ["number", "pin"] as const;
const number = ["number"] as const;
const pin = ["pin"] as const;

/** The fields that a refusal is about; a code that isn't here is about none. */
export const fieldsOf: Partial<Record<FaultCode, readonly FieldName[]>> = {
  invalid_request: both,
  invalid_card: both,
  card_blocked: number,
  card_expired: number,
  card_no_balance: number,
  card_not_active: number,
  card_already_applied: number,
  quote_expired: pin,
  balance_changed: pin,
  amount_changed: pin,
};

const passing: ReadonlySet<FaultCode> = new Set([
  "offline",
  "service_unavailable",
  "internal",
  "payment_in_progress",
  "outcome_unknown",
]);

/** Whether the very same call may be made again. All of the widget's calls are previews, so none can take twice. */
export function isPassing(code: FaultCode): boolean {
  return passing.has(code);
}
