import { type EndpointName, Secret } from "./contract/index.js";
import type { GiftcardErrorCode } from "./errors.js";

/** One of a service's two installations. */
export type Environment = "live" | "sandbox";

/** The outcome of an attempt: `done`, or its error's code. */
export type RequestOutcome = "done" | GiftcardErrorCode;

/** An attempt as reported to `onRequest`: only these fields, none of which can contain a secret. */
export interface RequestInfo {
  readonly endpoint: EndpointName;
  readonly environment: Environment | undefined;
  /** 1 for the first. Only reads are retried. */
  readonly attempt: number;
  readonly durationMs: number;
  readonly outcome: RequestOutcome;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** Whether the service returned its stored response to an earlier call with the same reference. */
  readonly replayed: boolean;
}

/** The options of `createClient`. */
export interface ClientOptions {
  /** The service's address, without `/api/endpoint/v1`. */
  readonly baseUrl: string;
  /** The installation at that address, for logs and journals. */
  readonly environment?: Environment | undefined;
  /** The API key. `authenticate` and `listProviders` need none. */
  readonly apiKey?: string | Secret | undefined;
  /** The issuer's number for the company; `balance`, `devalue`, `cancelDevalue` and `resolveDevalue` need it. */
  readonly companyId?: number | undefined;
  /** Replaces the global fetch. It must send each request once, and honour `redirect: "manual"`. */
  readonly fetch?: typeof fetch | undefined;
  /** Timeout of a call in milliseconds, retries and waits included. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Retries of a read after a transient error, 0 to 10. Other calls are never retried. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Allows `http:` to another machine, over a network of your own. Default: false. */
  readonly allowHttp?: boolean | undefined;
  /** Called after each attempt, for logs and metrics. The client neither waits for it nor reports its errors. */
  readonly onRequest?: ((info: RequestInfo) => unknown) | undefined;
}

/** The validated options. */
export type Settings = ReturnType<typeof readOptions>;

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_RETRIES = 2;
const MAX_RETRIES = 10;
const MAX_INT = 2_147_483_647;

/** Whether a value is a timeout that `setTimeout` supports. */
export const isTimeout = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_INT;

/**
 * Validates the options.
 *
 * @throws {TypeError} that names the option and what it should be, never its value
 */
export function readOptions(options: ClientOptions) {
  if (typeof options !== "object" || options === null) throw new TypeError("createClient takes an object of options.");
  const { environment, companyId, timeoutMs = DEFAULT_TIMEOUT_MS, onRequest } = options;
  const { maxRetries = DEFAULT_RETRIES } = options;
  if ("window" in globalThis && "document" in globalThis)
    throw new TypeError("createClient is for servers: in a browser, every visitor can read the API key.");
  if (environment !== undefined && environment !== "live" && environment !== "sandbox") {
    throw new TypeError('environment must be "live" or "sandbox".');
  }
  if (companyId !== undefined && !(Number.isInteger(companyId) && companyId >= 1 && companyId <= MAX_INT)) {
    throw new TypeError("companyId must be a whole number, 1 or more.");
  }
  if (!isTimeout(timeoutMs)) throw new TypeError("timeoutMs must be a whole number of milliseconds, 1 or more.");
  if (!(Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= MAX_RETRIES))
    throw new TypeError(`maxRetries must be a whole number from 0 to ${MAX_RETRIES}.`);
  if (options.fetch !== undefined && typeof options.fetch !== "function")
    throw new TypeError("fetch must be a function.");
  if (onRequest !== undefined && typeof onRequest !== "function") throw new TypeError("onRequest must be a function.");
  return {
    environment,
    baseUrl: readAddress(options.baseUrl, options.allowHttp === true),
    apiKey: options.apiKey === undefined ? undefined : readSecret("apiKey", options.apiKey),
    companyId,
    /** Whether `fetch` is the caller's. It may retry, so its errors don't prove that nothing was sent. */
    isForeignFetch: options.fetch !== undefined,
    // Look it up at each call: a page or a test may replace the global fetch later.
    fetch: options.fetch ?? ((...args: Parameters<typeof fetch>) => globalThis.fetch(...args)),
    timeoutMs,
    maxRetries,
    onRequest,
  };
}

/** Names of this machine. Requests to them don't leave it. */
const loopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

function readAddress(value: unknown, allowHttp: boolean): string {
  let url: URL;
  try {
    url = new URL(value as string);
  } catch {
    throw new TypeError('baseUrl must be an http or https address, such as "https://cards.example".');
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new TypeError("baseUrl must be an http or https address.");
  if (url.protocol === "http:" && !allowHttp && !loopback.test(url.hostname))
    throw new TypeError(
      "baseUrl must be https: over http, others can read keys and card numbers. In a network of your own, set allowHttp.",
    );
  if (url.username || url.password) throw new TypeError("baseUrl must not contain a user name or password.");
  if (url.search || url.hash) throw new TypeError("baseUrl must have no query and no fragment.");
  const path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith("/api/endpoint/v1")) throw new TypeError("baseUrl must end before /api/endpoint/v1.");
  return url.origin + path;
}

function readSecret(name: string, value: unknown): Secret {
  const secret = value instanceof Secret || typeof value === "string" ? Secret.of(value) : undefined;
  if (!secret || secret.reveal() === "") throw new TypeError(`${name} must be a string that is not empty.`);
  return secret;
}
