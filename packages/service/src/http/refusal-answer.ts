import { type Endpoint, type ErrorCode, errorDefinition, refusalBody } from "@giftcard-pay/client/contract";
import { type HttpAnswer, jsonAnswer } from "./answer.js";
import type { RefusalDetails } from "./handler.js";

/**
 * Creates the HTTP answer of an error code.
 *
 * @param row the operation; undefined for an unknown path
 */
export function answerRefusal(
  row: Endpoint | undefined,
  code: ErrorCode,
  { faults, retryAfterSeconds, isUnread }: RefusalDetails = {},
): HttpAnswer {
  const headers: Record<string, string> = {};
  if (code === "invalid_credentials") headers["WWW-Authenticate"] = 'Basic charset="UTF-8"';
  if (code === "method_not_allowed" && row) headers.Allow = row.method === "GET" ? "GET, HEAD" : row.method;
  if (retryAfterSeconds !== undefined) headers["Retry-After"] = String(Math.ceil(retryAfterSeconds));
  if (isUnread) headers.Connection = "close";
  return jsonAnswer(errorDefinition(code).status, refusalBody(row, code, faults), headers);
}
