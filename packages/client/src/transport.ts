import {
  BASE_PATH,
  type Endpoint,
  type EndpointName,
  endpoints,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
} from "./contract/index.js";
import type { Deadline } from "./deadline.js";
import { GiftcardError, type GiftcardErrorCode, ProtocolError, UnreachableError } from "./errors.js";
import type { Environment, Settings } from "./options.js";

/** How an attempt ended: `done`, or the code of its error. */
export type RequestOutcome = "done" | GiftcardErrorCode;

/** What `onRequest` hears of each attempt: these fields and no others, so that no secret can be among them. */
export interface RequestInfo {
  readonly endpoint: EndpointName;
  readonly environment: Environment | undefined;
  /** 1 for the first; only reads have more. */
  readonly attempt: number;
  readonly durationMs: number;
  readonly outcome: RequestOutcome;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
}

/** A request as it goes out. */
export interface Outgoing {
  readonly endpoint: EndpointName;
  /** The wire's fields; undefined where the operation reads no body. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly authorization?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** A readable answer of status 2xx or 4xx. */
export interface Answer {
  readonly endpoint: EndpointName;
  readonly status: number;
  /** The JSON value; undefined where a 4xx carries none. */
  readonly body: unknown;
  /** True when the service says that it honours the Idempotency-Key of this very call. */
  readonly keyHonoured: boolean;
  readonly replayed: boolean;
  /** Whether a text of the answer holds the API key that the call carried. */
  readonly quotesKey: (text: string) => boolean;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** Sends a request and has its answer judged; repeats it only where the operation is a read. */
export type Transport = <T>(
  request: Outgoing,
  deadline: Deadline,
  judge: (answer: Answer) => T,
) => Promise<T>;

const MAX_ATTEMPTS = 3;
const FIRST_WAIT_MS = 200;
const MAX_RETRY_AFTER_SECONDS = 24 * 60 * 60;
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_LIST_BYTES = 32 * 1024 * 1024;

/** Makes the one function that talks to the service. */
export function createTransport(settings: Settings): Transport {
  return async (request, deadline, judge) => {
    const row: Endpoint = endpoints[request.endpoint];
    for (let attempt = 1; ; attempt++) {
      try {
        return await tryOnce(settings, request, deadline, attempt, judge);
      } catch (error) {
        if (!row.read || attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
        const waitMs = waitBefore(attempt, error.retryAfterSeconds);
        if (waitMs >= deadline.remainingMs) throw error;
        await deadline.sleep(waitMs).catch(() => {
          throw new UnreachableError(deadline.reason ?? "aborted", {
            endpoint: request.endpoint,
            retryable: true,
          });
        });
      }
    }
  };
}

/** Half of it is chance, so that many callers that fail together don't come back together. */
function waitBefore(attempt: number, retryAfterSeconds = 0): number {
  const ms = FIRST_WAIT_MS * 2 ** (attempt - 1);
  return retryAfterSeconds * 1000 + ms * (0.5 + Math.random() / 2);
}

function isTransient(error: unknown): error is GiftcardError {
  if (error instanceof UnreachableError) return error.code !== "aborted";
  return error instanceof GiftcardError && error.status === 429;
}

async function tryOnce<T>(
  settings: Settings,
  request: Outgoing,
  deadline: Deadline,
  attempt: number,
  judge: (answer: Answer) => T,
): Promise<T> {
  const startedAt = performance.now();
  const seen: Seen = {};
  const report = (outcome: RequestOutcome) => {
    const { endpoint } = request;
    const durationMs = Math.round(performance.now() - startedAt);
    const { environment } = settings;
    const { status, requestId } = seen;
    try {
      settings.onRequest?.({ endpoint, environment, attempt, durationMs, outcome, status, requestId });
    } catch {
      // A faulty log must not turn a deduction that was made into an error.
    }
  };
  try {
    const result = judge(await exchange(settings, request, deadline, seen));
    report("done");
    return result;
  } catch (error) {
    // What fetch throws may quote the request, so it goes no further.
    const failure =
      error instanceof GiftcardError
        ? error
        : new UnreachableError(deadline.reason ?? "connection_lost", {
            ...seen,
            endpoint: request.endpoint,
            retryable: isRepeatable(request.endpoint),
          });
    report(failure.code);
    throw failure;
  }
}

interface Seen {
  status?: number;
  requestId?: string;
}

/** One request and its answer. Throws what fetch throws when the connection fails. */
async function exchange(
  settings: Settings,
  request: Outgoing,
  deadline: Deadline,
  seen: Seen,
): Promise<Answer> {
  const { endpoint } = request;
  const row: Endpoint = endpoints[endpoint];
  if (deadline.reason) throw new Error(deadline.reason);
  const response = await deadline.race(
    settings.fetch(`${settings.baseUrl}${BASE_PATH}${row.path}`, {
      method: row.method,
      headers: headersOf(row, request),
      body: bodyOf(row, request.fields),
      redirect: "manual",
      credentials: "omit",
      signal: deadline.signal,
    }),
  );
  const requestId = readRequestId(response.headers);
  const retryAfterSeconds = readRetryAfter(response.headers.get("retry-after"));
  const { status } = response;
  if (status > 0) seen.status = status; // 0: a browser hides a redirect's status
  if (requestId !== undefined) seen.requestId = requestId;
  const details = { ...seen, endpoint };

  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    discard(response);
    throw new ProtocolError("redirected", details);
  }
  if (status >= 500 || status === 408) {
    discard(response);
    const code = status === 408 ? "timeout" : status === 503 ? "overloaded" : "server_error";
    throw new UnreachableError(code, { ...details, retryAfterSeconds, retryable: isRepeatable(endpoint) });
  }
  const body = parse(
    await readText(
      response,
      row.read && row.auth !== "company" ? MAX_LIST_BYTES : MAX_ANSWER_BYTES,
      deadline,
    ),
  );
  if (body === undefined && response.ok) throw new ProtocolError("unreadable_answer", details);
  const echo = response.headers.get(IDEMPOTENCY_KEY_HEADER);
  const keyHonoured = request.idempotencyKey !== undefined && echo === request.idempotencyKey;
  const replayed = keyHonoured && response.headers.get(IDEMPOTENCY_REPLAYED_HEADER) === "true";
  const apiKey = request.fields?.apikey;
  const quotesKey = (text: string) => typeof apiKey === "string" && text.includes(apiKey);
  return { endpoint, status, body, keyHonoured, replayed, quotesKey, requestId, retryAfterSeconds };
}

/** Whether a caller may repeat a call whose outcome is unknown: it changes nothing, or only makes another key. */
function isRepeatable(endpoint: EndpointName): boolean {
  return endpoints[endpoint].read || endpoint === "authenticate";
}

function headersOf(row: Endpoint, request: Outgoing): Record<string, string> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (row.encoding === "form") headers["content-type"] = "application/x-www-form-urlencoded";
  if (row.encoding === "json") headers["content-type"] = "application/json";
  if (request.authorization !== undefined) headers.authorization = request.authorization;
  if (request.idempotencyKey !== undefined)
    headers[IDEMPOTENCY_KEY_HEADER.toLowerCase()] = request.idempotencyKey;
  return headers;
}

function bodyOf(row: Endpoint, fields: Outgoing["fields"] = {}): string | null {
  if (row.encoding === null) return null;
  if (row.encoding === "json") return JSON.stringify(fields);
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  return form.toString();
}

/** Reads a body of limited size; undefined when it is larger, or not UTF-8. */
async function readText(
  response: Response,
  limitBytes: number,
  deadline: Deadline,
): Promise<string | undefined> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (let bytes = 0; ; ) {
    const { done, value } = await deadline.race(reader.read());
    bytes += value?.byteLength ?? 0;
    if (bytes > limitBytes) {
      reader.cancel().catch(() => {});
      return undefined;
    }
    try {
      text += decoder.decode(value, { stream: !done });
    } catch {
      reader.cancel().catch(() => {});
      return undefined;
    }
    if (done) return text;
  }
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

function readRequestId(headers: Headers): string | undefined {
  const value = headers.get("x-request-id");
  return value !== null && /^[\w.:-]{1,128}$/.test(value) ? value : undefined;
}

/** Seconds from a Retry-After header, which holds seconds or a date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS);
}
