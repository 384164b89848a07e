import { endpoints } from "./contract/index.js";
import type { Deadline } from "./deadline.js";
import { type ConnectionFault, GiftcardError, UnreachableError } from "./errors.js";
import { exchange, isRepeatable, type OpenAnswer, type Outgoing, type Seen } from "./exchange.js";
import type { RequestOutcome, Settings } from "./options.js";

const FIRST_WAIT_MS = 200;

/** Sends a request and reads its response. Retries only reads. */
export async function send<T>(
  settings: Settings,
  request: Outgoing,
  deadline: Deadline,
  read: (answer: OpenAnswer) => Promise<T>,
): Promise<T> {
  const { endpoint } = request;
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryOnce(settings, request, deadline, attempt, read);
    } catch (error) {
      if (!endpoints[endpoint].read || attempt > settings.maxRetries || !isTransient(error)) throw error;
      const waitMs = waitBefore(attempt, error.retryAfterSeconds);
      if (waitMs >= deadline.remainingMs) throw error;
      await deadline.sleep(waitMs).catch(() => {
        throw new UnreachableError(deadline.reason ?? "aborted", { endpoint, retryable: true });
      });
    }
  }
}

/** The error codes of Node and Bun for a connection that could not be made. Nothing was sent. */
const unconnected: Record<string, ConnectionFault> = {
  ECONNREFUSED: "refused",
  ENOTFOUND: "name_not_found",
  EAI_AGAIN: "name_not_found",
  UND_ERR_CONNECT_TIMEOUT: "connect_timeout",
};

/** Their error codes for an untrusted certificate. The request is sent only after the handshake, so nothing was sent. */
const untrusted = /^(CERT_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|ERR_TLS_CERT_ALTNAME_INVALID$)/;

/** Returns how a connection failed, and the reason if it is known. */
function connectionFailure(
  settings: Settings,
  error: unknown,
): { code: "not_connected" | "connection_lost"; reason?: ConnectionFault } {
  // Compare by name: in Jest, fetch throws a TypeError of another realm.
  const { name, code, cause } = Object(error) as {
    name?: unknown;
    code?: unknown;
    cause?: { code?: unknown };
  };
  // Node has the code in `cause`, Bun in the error itself. Deno and workerd have none.
  const given = name === "TypeError" ? String(cause?.code ?? code) : "";
  const reason = untrusted.test(given) ? "certificate" : unconnected[given];
  if (!reason) return { code: "connection_lost" };
  // The caller's fetch may have sent the request, lost the response, and failed to connect only when it retried.
  return { code: settings.isForeignFetch ? "connection_lost" : "not_connected", reason };
}

/** Returns the wait before a retry. Half of it is random, so that callers that failed together don't retry together. */
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
  read: (answer: OpenAnswer) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const seen: Seen = {};
  const report = (outcome: RequestOutcome) => {
    const { endpoint } = request;
    const durationMs = Math.round(performance.now() - startedAt);
    const { environment } = settings;
    const { status, requestId, replayed = false } = seen;
    const info = { endpoint, environment, attempt, durationMs, outcome, status, requestId, replayed };
    // An error in the caller's log must not turn a successful deduction into a failure.
    (async () => settings.onRequest?.(info))().catch(() => {});
  };
  try {
    const result = await read(await exchange(settings, request, deadline, seen));
    report("done");
    return result;
  } catch (error) {
    // An error of fetch may quote the request, so don't pass it on.
    const failure = error instanceof GiftcardError ? error : unreachable(settings, request, deadline, seen, error);
    report(failure.code);
    throw failure;
  }
}

function unreachable(
  settings: Settings,
  { endpoint }: Outgoing,
  deadline: Deadline,
  seen: Seen,
  error: unknown,
): UnreachableError {
  const details = { ...seen, endpoint, retryable: isRepeatable(endpoint) };
  if (deadline.reason) return new UnreachableError(deadline.reason, details);
  const { code, reason } = connectionFailure(settings, error);
  return new UnreachableError(code, { ...details, reason });
}
