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
  { faults, retryAfterSeconds, isUnread, message }: RefusalDetails = {},
): HttpAnswer {
  const headers: Record<string, string> = {};
  if (code === "invalid_credentials") headers["WWW-Authenticate"] = 'Basic charset="UTF-8"';
  if (code === "method_not_allowed" && row) headers.Allow = row.method === "GET" ? "GET, HEAD" : row.method;
  if (retryAfterSeconds !== undefined) headers["Retry-After"] = String(Math.ceil(retryAfterSeconds));
  if (isUnread) headers.Connection = "close";
  const body = { ...refusalBody(row, code, faults), ...(message !== undefined && { error: message }) };
  return jsonAnswer(errorDefinition(code).status, body, headers);
}
