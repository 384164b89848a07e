import type { EndpointName, ErrorCode } from "@giftcard-pay/client/contract";
import pino from "pino";
import type { LimitName } from "../limits/limits.js";

/** The outcome of a call: an error code of the contract, or success. */
export type CallOutcome = ErrorCode | "done" | "replayed";

/** The record of an answered call. It holds no secret. */
export interface EndedCall {
  readonly requestId: string;
  /** The trace id in the caller's `traceparent` header. */
  readonly traceId: string | undefined;
  /** Undefined if the path is unknown. */
  readonly operation: EndpointName | undefined;
  readonly status: number;
  readonly outcome: CallOutcome;
  readonly companyId: number | undefined;
  readonly keyId: number | undefined;
  readonly limit: LimitName | undefined;
  /** The cents that devalue took, or that canceldevalue put back. A replayed answer moves nothing. */
  readonly movedCents: number;
  readonly durationMs: number;
}

export interface CallObserver {
  begin(operation: EndpointName): void;
  end(call: EndedCall): void;
}

/** The least severe lines that are logged. */
export type LogLevel = "info" | "warn" | "error" | "silent";

/** A failure, with its call if there is one. Only the error's name, code and stack are logged: its message may hold anything. */
export interface Failure {
  readonly requestId?: string;
  readonly traceId?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly error: unknown;
}

/** The service's log. */
export interface Log {
  /** Logs an answered call. */
  call(call: EndedCall): void;
  /** Logs an unexpected failure. */
  failure(failure: Failure): void;
  /** Logs that a call has `X-Forwarded-For` although `--proxies` is 0. */
  proxiesUnknown(): void;
}

export interface LogOptions {
  /** With `info`, each call is logged; with `warn` and `error`, only failures. */
  readonly level: LogLevel;
  /** Part of each line. */
  readonly environment: string;
  /** The output. Default: standard error. */
  readonly destination?: pino.DestinationStream;
}

/** Opens a log that writes one line of JSON for each event. It logs the fields named here, and nothing else of a call. */
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
    proxiesUnknown() {
      logger.warn("Calls have X-Forwarded-For, but --proxies is 0: all callers behind a proxy count as one address.");
    },
  };
}

/** Returns name, code and stack of an error. Never its message, parameters or detail. */
function placeOf(error: unknown) {
  if (!(error instanceof Error)) return {};
  const { name, code, stack } = error as Error & { code?: unknown };
  const frames = stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
  return { name, code: typeof code === "string" ? code : undefined, frames };
}
