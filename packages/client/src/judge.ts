import * as z from "zod/mini";
import {
  type Endpoint,
  type EndpointName,
  endpoints,
  type Fault,
  type ResponseOf,
  readErrorCode,
} from "./contract/index.js";
import { ProtocolError, RefusedError, type RefusedErrorCode } from "./errors.js";
import type { Answer } from "./exchange.js";

/** Codes that only a service with the idempotency extension uses. */
const extensionCodes: ReadonlySet<string> = new Set([
  "key_closed",
  "devalue_not_done",
  "idempotency_key_invalid",
  "idempotency_key_reused",
  "idempotency_key_spent",
]);
/** One for each event of a newevent call, so that the caller gets all of them. */
const MAX_FAULTS = 500;

/**
 * Validates a response against the operation's contract.
 *
 * @throws {RefusedError} if the response is a refusal
 * @throws {ProtocolError} if it is neither a refusal nor the success that the contract defines
 */
export function readAnswer<N extends EndpointName>(endpoint: N, answer: Answer): ResponseOf<N> {
  const row: Endpoint = endpoints[endpoint];
  if (answer.status >= 400) throw refusalOf(row, answer);
  // A money call succeeded only if the status is 200. Another success may come from a proxy.
  const promised = isMoney(row) ? answer.status === 200 : true;
  const read = z.safeDecode(row.response, answer.body as never);
  if (!promised || !read.success) throw unexpected(answer);
  return read.data as ResponseOf<N>;
}

/** Creates the error for a response that doesn't match the contract. */
export function unexpected(answer: Omit<Answer, "body">): ProtocolError {
  const { endpoint, status, requestId } = answer;
  return new ProtocolError("unexpected_answer", { endpoint, status, requestId });
}

/** Creates the error for a 4xx. For a money call, only a JSON object with an `error` text proves that nothing happened. */
export function refusalOf(row: Endpoint, answer: Answer): RefusedError | ProtocolError {
  const body = (typeof answer.body === "object" && answer.body !== null ? answer.body : {}) as Record<string, unknown>;
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

/** Whether an operation moves money. Only those refuse with `success: false`. */
function isMoney(row: Endpoint): boolean {
  return row.refusal === "flagged";
}

/** Accepts letters only: digits could be a card number. */
function readCardStatus(value: unknown): string | undefined {
  return typeof value === "string" && /^[\p{L} _-]{1,40}$/u.test(value) ? value : undefined;
}

const faultText = (maxLength: number) => z.string().check(z.maxLength(maxLength), z.regex(/^\P{C}*$/u));
const faultList = z.array(z.object({ path: faultText(100), message: faultText(200) }));

/** Reads the service's list of faults, without those that quote the API key. */
function readFaults(value: unknown, answer: Answer): Fault[] {
  const { data = [] } = faultList.safeParse(value);
  return data.filter((fault) => !answer.quotesKey(fault.path + fault.message)).slice(0, MAX_FAULTS);
}
