import type { Action } from "./events.js";
import type { ErrorCode } from "./messages/index.js";

/** The two fields of a card, in the order in which they are shown. */
export const fieldNames = ["number", "pin"] as const;
export type FieldName = (typeof fieldNames)[number];

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

/** The codes of errors about each field, such as `invalid_card`, which is about both. */
const codesOf = { number: /^(invalid|card)_/, pin: /^(invalid|quote|balance|amount)_/ };

/** Returns the fields that an error is about: none unless it is about the card in them. The last one shows its text. */
export function refusedFields(error: ShownError | undefined): FieldName[] {
  return fieldNames.filter(
    (name) => error && /quote|balance|apply/.test(error.action) && codesOf[name].test(error.code),
  );
}

const closing = /^(cart_|currency_|giftcards_)/;

/** Returns whether the cart can take no more cards, whatever the shopper does. */
export function isClosing(error: ShownError | undefined): boolean {
  return !!error && closing.test(error.code);
}

const retryable = /^(offline|internal|service_|payment_in_|outcome_)/;

/** Returns whether the same call may be sent again. None of the widget's calls takes money, so a repeat is safe. */
export function isRetryable(code: ErrorCode): boolean {
  return retryable.test(code);
}
