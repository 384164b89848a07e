import * as z from "zod/mini";
import {
  type Endpoint,
  type EndpointName,
  endpoints,
  type ResponseOf,
  readErrorCode,
} from "./contract/index.js";
import { type Fault, ProtocolError, RefusedError, type RefusedErrorCode } from "./errors.js";
import type { Answer } from "./exchange.js";

/** Codes that only a service with the idempotency extension can mean. */
const extensionCodes: ReadonlySet<string> = new Set([
  "key_closed",
  "devalue_not_done",
  "idempotency_key_invalid",
  "idempotency_key_reused",
  "idempotency_key_spent",
]);
/** As many as one newevent has events, so that a caller learns of each at once. */
const MAX_FAULTS = 500;

/**
 * Reads an answer as the operation's row describes it.
 *
 * @throws {RefusedError} a 4xx that says so
 * @throws {ProtocolError} anything that is neither a refusal nor the promised answer
 */
export function readAnswer<N extends EndpointName>(endpoint: N, answer: Answer): ResponseOf<N> {
  const row: Endpoint = endpoints[endpoint];
  if (answer.status >= 400) throw refusalOf(row, answer);
  // A money call is done when it is answered as the interface says, and not by any other success.
  const promised = isMoney(row) ? answer.status === 200 : true;
  const read = z.safeDecode(row.response, answer.body as never);
  if (!promised || !read.success) throw unexpected(answer);
  return read.data as ResponseOf<N>;
}

/** An answer that doesn't hold what it should. */
export function unexpected(answer: Omit<Answer, "body">): ProtocolError {
  const { endpoint, status, requestId } = answer;
  return new ProtocolError("unexpected_answer", { endpoint, status, requestId });
}

/** The error for a 4xx. On a money call only a JSON object with an `error` text proves that nothing happened. */
export function refusalOf(row: Endpoint, answer: Answer): RefusedError | ProtocolError {
  const body = (typeof answer.body === "object" && answer.body !== null ? answer.body : {}) as Record<
    string,
    unknown
  >;
  const { endpoint, status, requestId, retryAfterSeconds } = answer;
  if (isMoney(row)) {
    const details = { endpoint, status, requestId };
    if (answer.body === undefined) return new ProtocolError("unreadable_answer", details);
    if (typeof body.error !== "string" || Array.isArray(answer.body) || body.success === true)
      return unexpected(answer);
  }
  return new RefusedError(codeOf(row, answer, body), {
    endpoint,
    status,
    requestId,
    retryAfterSeconds,
    retryable: status === 429,
    cardStatus: readCardStatus(body.card_status),
    faults: row.auth === "key" ? readFaults(body.errors, answer) : undefined,
    keyHonoured: answer.keyHonoured,
  });
}

function codeOf(row: Endpoint, answer: Answer, body: Record<string, unknown>): RefusedErrorCode {
  const code = readErrorCode(row.errors, answer.status, body);
  if (code === undefined || code === "internal" || code === "overloaded") return "refused";
  return extensionCodes.has(code) && !answer.keyHonoured ? "refused" : code;
}

/** Both operations that move money answer refusals with `success: false`, and no other operation does. */
function isMoney(row: Endpoint): boolean {
  return row.refusal === "flagged";
}

/** Words only: a status that holds digits could hold a card number. */
function readCardStatus(value: unknown): string | undefined {
  return typeof value === "string" && /^[\p{L} _-]{1,40}$/u.test(value) ? value : undefined;
}

const faultText = (maxLength: number) => z.string().check(z.maxLength(maxLength), z.regex(/^\P{C}*$/u));
const faultList = z.array(z.object({ path: faultText(100), message: faultText(200) }));

/** The service's list of faults; without those that quote the key back. */
function readFaults(value: unknown, answer: Answer): Fault[] {
  const { data = [] } = faultList.safeParse(value);
  return data.filter((fault) => !answer.quotesKey(fault.path + fault.message)).slice(0, MAX_FAULTS);
}
