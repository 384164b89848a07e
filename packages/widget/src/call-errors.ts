import type { Action } from "./events.js";
import type { ErrorCode } from "./messages/index.js";

/** The two fields of a card, in the order in which they are shown. */
export type FieldName = "number" | "pin";

/** A failed call. It carries only a code: no text of the server's, no address, nothing that was sent. */
export class CallError extends Error {
  override readonly name = "CallError";

  constructor(
    readonly code: ErrorCode,
    readonly retryAfterSeconds?: number,
    /** The HTTP status, if there was a response. */
    readonly status?: number,
  ) {
    super(code);
  }
}

/** The error on display. `count` differs for each error, so that a screen reader also announces one that repeats. */
export interface ShownError {
  code: ErrorCode;
  action: Action;
  /** The page's text, if it vetoed a card. It replaces the code's text. */
  reason: string;
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

/** Returns the fields that an error is about. */
export function refusedFields(error: ShownError | undefined): readonly FieldName[] {
  return (error && fields[error.code]) ?? [];
}

const closing: readonly ErrorCode[] = [
  "cart_completed",
  "cart_not_found",
  "currency_not_supported",
  "giftcards_not_accepted",
];

/** Returns whether the cart can take no more cards, whatever the shopper does. */
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

/** Returns whether the same call may be sent again. None of the widget's calls takes money, so a repeat is safe. */
export function isRetryable(code: ErrorCode): boolean {
  return retryable.has(code);
}
