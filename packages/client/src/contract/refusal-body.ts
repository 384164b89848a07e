import type { Endpoint } from "./endpoints.js";
import { type ErrorCode, errorDefinition } from "./error-codes.js";

/** A fault in a request: the field's path by its API names, and what is wrong with it. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/**
 * Builds the response body of a refusal.
 *
 * @param row the operation; undefined if the path is unknown
 * @param faults the faults of the fields. If the operation lists its required fields, without those that are missing
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
  // For a card, balance responds with `result_code`, and devalue with `success`.
  if (resultCode !== undefined && !flagged) {
    body.result_code = resultCode;
    body.message = message;
  }
  return body;
}
