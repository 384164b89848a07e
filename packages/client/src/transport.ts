import { type Endpoint, endpoints } from "./contract/index.js";
import type { Deadline } from "./deadline.js";
import { type ConnectionFault, GiftcardError, UnreachableError } from "./errors.js";
import { exchange, isRepeatable, type OpenAnswer, type Outgoing, type Seen } from "./exchange.js";
import type { RequestOutcome, Settings } from "./options.js";

/** Sends a request and has its answer read; repeats it only where the operation is a read. */
export type Transport = <T>(
  request: Outgoing,
  deadline: Deadline,
  read: (answer: OpenAnswer) => Promise<T>,
) => Promise<T>;

const FIRST_WAIT_MS = 200;

/** Makes the one function that talks to the service. */
export function createTransport(settings: Settings): Transport {
  return async (request, deadline, read) => {
    const row: Endpoint = endpoints[request.endpoint];
    for (let attempt = 1; ; attempt++) {
      try {
        return await tryOnce(settings, request, deadline, attempt, read);
      } catch (error) {
        if (!row.read || attempt > settings.maxRetries || !isTransient(error)) throw error;
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

/** The codes of Node and Bun where fetch got no connection, so that not a byte of the request has left. */
const unconnected: Record<string, ConnectionFault> = {
  ECONNREFUSED: "refused",
  ENOTFOUND: "name_not_found",
  EAI_AGAIN: "name_not_found",
  UND_ERR_CONNECT_TIMEOUT: "connect_timeout",
};

/** Their codes of a service's certificate that isn't to be trusted: the request waits for it, and was never sent. */
const untrusted =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|ERR_TLS_CERT_ALTNAME_INVALID$)/;

/** How a connection failed: the code of its error, and why, where that is known. */
function connectionFailure(
  settings: Settings,
  error: unknown,
): { code: "not_connected" | "connection_lost"; reason?: ConnectionFault } {
  // By its name: in a test runner with a realm of its own, fetch's TypeError isn't the TypeError here.
  const { name, code, cause } = Object(error) as {
    name?: unknown;
    code?: unknown;
    cause?: { code?: unknown };
  };
  // Node has it in the cause, Bun in the error itself; Deno and workerd have none.
  const given = name === "TypeError" ? String(cause?.code ?? code) : "";
  const reason = untrusted.test(given) ? "certificate" : unconnected[given];
  if (!reason) return { code: "connection_lost" };
  // Another fetch may have sent the request before, lost the answer, and failed to connect only when it tried again.
  return { code: settings.isForeignFetch ? "connection_lost" : "not_connected", reason };
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
    // A faulty log, also one that fails later, must not turn a deduction that was made into an error.
    (async () => settings.onRequest?.(info))().catch(() => {});
  };
  try {
    const result = await read(await exchange(settings, request, deadline, seen));
    report("done");
    return result;
  } catch (error) {
    // What fetch throws may quote the request, so it goes no further.
    const failure =
      error instanceof GiftcardError ? error : unreachable(settings, request, deadline, seen, error);
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
