import { type Endpoint, type ErrorCode, errorDefinition, refusalBody } from "@giftcard-pay/client/contract";
import type { RefusalDetails } from "./handler.js";

/**
 * Turns a code into what the wire shows: the one place where an error gets its HTTP form.
 *
 * @param row the operation; undefined when the path is none
 */
export function answerRefusal(
  row: Endpoint | undefined,
  code: ErrorCode,
  details: RefusalDetails = {},
): Response {
  const body = refusalBody(row, code, details.faults);
  const headers = new Headers({ "Content-Type": "application/json" });
  if (code === "invalid_credentials") headers.set("WWW-Authenticate", 'Basic charset="UTF-8"');
  if (code === "method_not_allowed" && row)
    headers.set("Allow", row.method === "GET" ? "GET, HEAD" : row.method);
  if (details.retryAfterSeconds !== undefined)
    headers.set("Retry-After", String(Math.ceil(details.retryAfterSeconds)));
  if (details.isUnread) headers.set("Connection", "close");
  return new Response(JSON.stringify(body), { status: errorDefinition(code).status, headers });
}
