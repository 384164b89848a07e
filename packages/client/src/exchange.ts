import {
  BASE_PATH,
  ENVIRONMENT_HEADER,
  type Endpoint,
  type EndpointName,
  endpoints,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
  readRetryAfter,
} from "./contract/index.js";
import type { Deadline } from "./deadline.js";
import { ProtocolError, UnreachableError } from "./errors.js";
import type { Settings } from "./options.js";
import { VERSION } from "./version.js";

/** A request to send. */
export interface Outgoing {
  readonly endpoint: EndpointName;
  /** The fields by their API names; undefined if the operation has no body. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly authorization?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** A complete response with status 2xx or 4xx. */
export interface Answer {
  readonly endpoint: EndpointName;
  readonly status: number;
  /** The JSON value; undefined if a 4xx has none. */
  readonly body: unknown;
  /** Whether the service echoed this call's Idempotency-Key, and so honours it. */
  readonly keyHonoured: boolean;
  readonly replayed: boolean;
  /** Whether a text contains the API key of this call. */
  readonly quotesKey: (text: string) => boolean;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

const MAX_ANSWER_BYTES = 256 * 1024;
/** About a hundred thousand events. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** The part of a response that is known once its headers have arrived. */
export interface Seen {
  status?: number;
  requestId?: string;
  replayed?: boolean;
}

/** A response with status 2xx or 4xx whose body has not been read yet. */
export interface OpenAnswer {
  readonly response: Response;
  readonly head: Omit<Answer, "body">;
}

/** Sends one request, and writes what it learns to `seen`. Throws what fetch throws if the connection fails. */
export async function exchange(
  settings: Settings,
  request: Outgoing,
  deadline: Deadline,
  seen: Seen,
): Promise<OpenAnswer> {
  const { endpoint } = request;
  const row: Endpoint = endpoints[endpoint];
  if (deadline.reason) throw new Error(deadline.reason);
  const response = await deadline.race(
    settings.fetch(`${settings.baseUrl}${BASE_PATH}${row.path}`, {
      method: row.method,
      headers: headersOf(row, request),
      ...bodyOf(row, request.fields),
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
  const told = response.headers.get(ENVIRONMENT_HEADER);
  if (told !== null && settings.environment !== undefined && told !== settings.environment) {
    discard(response);
    throw new ProtocolError("wrong_environment", details);
  }
  if (status >= 500 || status === 408) {
    discard(response);
    const code = status === 408 ? "timeout" : status === 503 ? "overloaded" : "server_error";
    throw new UnreachableError(code, { ...details, retryAfterSeconds, retryable: isRepeatable(endpoint) });
  }
  const echo = response.headers.get(IDEMPOTENCY_KEY_HEADER);
  const keyHonoured = request.idempotencyKey !== undefined && echo === request.idempotencyKey;
  const replayed = keyHonoured && response.headers.get(IDEMPOTENCY_REPLAYED_HEADER) === "true";
  seen.replayed = replayed;
  const apiKey = request.fields?.apikey;
  const quotesKey = (text: string) => typeof apiKey === "string" && text.includes(apiKey);
  const head = { endpoint, status, keyHonoured, replayed, quotesKey, requestId, retryAfterSeconds };
  return { response, head };
}

/** Reads a body up to its size limit. Throws what fetch throws if the connection fails. */
export async function readWhole({ response, head }: OpenAnswer, deadline: Deadline): Promise<Answer> {
  const { endpoint, status, requestId } = head;
  const row: Endpoint = endpoints[endpoint];
  const body = parse(await readText(response, row.auth !== "company" ? MAX_LIST_BYTES : MAX_ANSWER_BYTES, deadline));
  if (body === undefined && response.ok) throw new ProtocolError("unreadable_answer", { endpoint, status, requestId });
  return { ...head, body };
}

/** Whether a caller may repeat a call whose outcome is unknown: it is a read, or only creates another API key. */
export function isRepeatable(endpoint: EndpointName): boolean {
  return endpoints[endpoint].read || endpoint === "authenticate";
}

function headersOf(row: Endpoint, request: Outgoing): Record<string, string> {
  const headers: Record<string, string> = {
    accept: "application/json",
    "user-agent": `giftcard-pay-client/${VERSION}`,
  };
  if (row.encoding === "form") headers["content-type"] = "application/x-www-form-urlencoded";
  if (row.encoding === "json") headers["content-type"] = "application/json";
  if (request.authorization !== undefined) headers.authorization = request.authorization;
  if (request.idempotencyKey !== undefined) headers[IDEMPOTENCY_KEY_HEADER.toLowerCase()] = request.idempotencyKey;
  return headers;
}

/**
 * Returns the body of a request. Deno's fetch retries by itself if a reused connection breaks, even a POST. A stream can't
 * be sent twice, so there every write is sent as a stream.
 */
function bodyOf(row: Endpoint, fields: Outgoing["fields"]): { body: string | ReadableStream | null; duplex?: "half" } {
  const text = textOf(row, fields);
  if (text === null || row.read || !("Deno" in globalThis)) return { body: text };
  return { body: new Blob([text]).stream(), duplex: "half" };
}

function textOf(row: Endpoint, fields: Outgoing["fields"] = {}): string | null {
  if (row.encoding === null) return null;
  if (row.encoding === "json") return JSON.stringify(fields);
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  return form.toString();
}

/** Reads a body; undefined if it exceeds the limit or is not UTF-8. */
async function readText(response: Response, limitBytes: number, deadline: Deadline): Promise<string | undefined> {
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
