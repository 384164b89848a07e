import pino from "pino";
import type { EndedCall } from "./ended-call.js";
import type { LogLevel } from "./log-level.js";

/** What went wrong in a call. Of the error only its kind and place are written: a message may hold anything. */
export interface Failure {
  readonly requestId?: string;
  readonly traceId?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly error: unknown;
}

/** Where the service writes down what happens to it. */
export interface Log {
  /** A call was answered. */
  call(call: EndedCall): void;
  /** Something failed that nobody foresaw. */
  failure(failure: Failure): void;
  /** A worker died, and another takes its place. */
  workerLost(worker: LostWorker): void;
  /** Calls have `X-Forwarded-For`, and nothing says how many proxies add to it. */
  proxiesUnknown(): void;
}

export interface LostWorker {
  readonly workerPid: number | undefined;
  readonly code: number | null;
  readonly signal: string | null;
}

export interface LogOptions {
  /** `info` has a line for every call, `warn` and `error` one for every failure alone. */
  readonly level: LogLevel;
  /** Stands in every line. */
  readonly environment: string;
  /** Where the lines go; standard error when left out. */
  readonly destination?: pino.DestinationStream;
}

/** Writes each event as one line of JSON: the fields named here, and nothing else of what came in. */
export function openLog({ level, environment, destination }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: { environment, pid: process.pid },
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? pino.destination({ dest: 2, sync: false }),
  );
  return {
    call({ requestId, traceId, operation, status, outcome, limit, companyId, keyId, durationMs }) {
      const duration = Math.round(durationMs * 1000) / 1000;
      const who = { companyId, keyId };
      const fields = { requestId, traceId, operation, status, outcome, limit, ...who, durationMs: duration };
      logger.info(fields, "call");
    },
    failure({ requestId, traceId, endpoint, error }) {
      logger.error({ requestId, traceId, operation: endpoint, ...placeOf(error) }, "failure");
    },
    workerLost({ workerPid, code, signal }) {
      logger.warn({ workerPid, code, signal }, "worker replaced");
    },
    proxiesUnknown() {
      logger.warn(
        "calls come with X-Forwarded-For, and --proxies is 0: behind a proxy all callers are one address",
      );
    },
  };
}

/** Kind and place of an error. Never its message, its parameters or its detail. */
function placeOf(error: unknown) {
  if (!(error instanceof Error)) return {};
  const { name, code, stack } = error as Error & { code?: unknown };
  const frames = stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
  return { name, code: typeof code === "string" ? code : undefined, frames };
}
