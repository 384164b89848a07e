import type { Action } from "./events.js";
import type { ErrorCode } from "./messages/index.js";

/** The two fields of a card, in the order in which they stand. */
export type FieldName = "number" | "pin";

/** Why a call gave nothing. It holds a code only: no server's text, no address, nothing that was sent. */
export class CallError extends Error {
  override readonly name = "CallError";

  constructor(
    readonly code: ErrorCode,
    readonly retryAfterSeconds?: number,
    /** The HTTP status, where there was an answer. */
    readonly status?: number,
  ) {
    super(code);
  }
}

/** What went wrong, and while doing what. `count` tells two alike apart, so that the second is announced too. */
export interface ShownError {
  code: ErrorCode;
  action: Action;
  count: number;
}

const both = ["number", "pin"] as const;
const number = ["number"] as const;
const pin = ["pin"] as const;

const fields: Partial<Record<ErrorCode, readonly FieldName[]>> = {
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

/** The fields that a refusal is about. */
export function refusedFields(error: ShownError | undefined): readonly FieldName[] {
  return (error && fields[error.code]) ?? [];
}

const closing: readonly ErrorCode[] = [
  "cart_completed",
  "cart_not_found",
  "currency_not_supported",
  "giftcards_not_accepted",
];

/** Whether a cart takes no card any more, whatever a shopper does. */
export function isClosing(error: ShownError | undefined): boolean {
  return !!error && closing.includes(error.code);
}

const retryable: ReadonlySet<ErrorCode> = new Set([
  "offline",
  "service_unavailable",
  "internal",
  "payment_in_progress",
  "outcome_unknown",
]);

/** Whether the very same call may be made again. All of the widget's calls are previews, so none can take twice. */
export function isRetryable(code: ErrorCode): boolean {
  return retryable.has(code);
}
