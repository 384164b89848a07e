import type { Endpoint } from "./endpoints.js";
import { type ErrorCode, errorDefinition } from "./error-codes.js";

/** A fault of one field, by its path on the wire. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/**
 * The body of a refusal, as the wire shows it.
 *
 * @param row the operation; undefined when the path is none
 * @param faults what is wrong with the fields. Where the operation lists its required names, they tell of those that are
 *   missing, and the faults of those alone that came
 */
export function refusalBody(
  row: Endpoint | undefined,
  code: ErrorCode,
  faults: readonly Fault[] = [],
): Record<string, unknown> {
  const { message, cardStatus, resultCode } = errorDefinition(code);
  const flagged = row?.refusal === "flagged";
  const body: Record<string, unknown> = flagged ? { success: false, error: message } : { error: message };
  if (code === "invalid_request") {
    if (row?.required) body.required = row.required;
    if (!row?.required || faults.length > 0) body.errors = faults;
  }
  if (cardStatus !== undefined) body.card_status = cardStatus;
  // Of the operations that judge a card, balance tells a figure and devalue the flag.
  if (resultCode !== undefined && !flagged) {
    body.result_code = resultCode;
    body.message = message;
  }
  return body;
}
