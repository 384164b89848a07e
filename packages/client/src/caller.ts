import * as z from "zod/mini";
import {
  type Endpoint,
  type EndpointName,
  endpoints,
  type Fault,
  idempotencyKeyPattern,
  type RequestOf,
  type ResponseOf,
} from "./contract/index.js";
import { Deadline } from "./deadline.js";
import { RefusedError } from "./errors.js";
import { type Answer, readWhole } from "./exchange.js";
import { readAnswer } from "./judge.js";
import { isTimeout, type Settings } from "./options.js";
import { send } from "./transport.js";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call. The outcome of a write is then unknown. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of the whole call in milliseconds, retries and waits included. Default: the client's. */
  readonly timeoutMs?: number | undefined;
}

/** An operation's arguments: its request without the fields that the client adds. */
type ArgumentsOf<N extends EndpointName> = Omit<RequestOf<N>, "apiKey" | "companyId">;

/** The parts of a call that differ by operation. */
interface CallDetails<T> {
  /** Sent as Idempotency-Key. */
  readonly reference?: string | undefined;
  readonly authorization?: string;
  /** Reads the response. Default: by the operation's contract. */
  readonly judge?: (answer: Answer) => T;
}

/** Creates the function that calls one service. It validates the arguments and the response, and adds the API key. */
export function createCaller(settings: Settings) {
  return async function call<N extends EndpointName, T = ResponseOf<N>>(
    endpoint: N,
    args: ArgumentsOf<N>,
    { signal, timeoutMs = settings.timeoutMs }: CallOptions = {},
    { reference, authorization, judge = (answer) => readAnswer(endpoint, answer) as never }: CallDetails<T> = {},
  ): Promise<T> {
    const fields = encode(endpoint, args, settings);
    if (reference !== undefined && !(typeof reference === "string" && idempotencyKeyPattern.test(reference))) {
      throw invalid(endpoint, "reference", "must be 1 to 255 visible ASCII characters");
    }
    const request = { endpoint, fields, authorization, idempotencyKey: reference };
    if (!isTimeout(timeoutMs)) throw invalid(endpoint, "timeoutMs", "must be a whole number, 1 or more");
    const deadline = new Deadline(timeoutMs, signal);
    try {
      return await send(settings, request, deadline, async (answer) => judge(await readWhole(answer, deadline)));
    } finally {
      deadline.end();
    }
  };
}

/** Encodes the arguments under their API names. Refuses invalid ones before anything is sent. */
function encode(endpoint: EndpointName, args: object, { apiKey, companyId }: Settings): Record<string, unknown> {
  const row: Endpoint = endpoints[endpoint];
  const hasKey = row.auth === "key" || row.auth === "company";
  if (hasKey && !apiKey) throw invalid(endpoint, "apikey", "the client was made without apiKey");
  if (row.auth === "company" && companyId === undefined) {
    throw invalid(endpoint, "company_id", "the client was made without companyId");
  }
  const written = z.safeEncode(row.request, {
    ...args,
    ...(hasKey && { apiKey }),
    ...(row.auth === "company" && { companyId }),
  });
  if (written.success) return written.data as Record<string, unknown>;
  throw new RefusedError("invalid_request", { endpoint, faults: written.error.issues.map(faultOf) });
}

/** Converts an issue. Zod's messages contain types and limits, never values. */
function faultOf(issue: z.core.$ZodIssue): Fault {
  return { path: issue.path.join(".") || "request", message: issue.message };
}

function invalid(endpoint: EndpointName, path: string, message: string): RefusedError {
  return new RefusedError("invalid_request", { endpoint, faults: [{ path, message }] });
}
