import type pg from "pg";
import type { Limits, Timeouts } from "../limits/limits.js";
import { type Log, type LogLevel, openLog } from "../monitoring/log.js";
import { type RunningService, type ServiceOptions, startService } from "../service.js";
import type { Environment } from "../store/environment.js";
import { openKeyring } from "../store/secret-generations.js";

/** The options of `serve`. They are sent to each worker as JSON. */
export interface ServingOptions {
  readonly port: number;
  readonly host: string;
  readonly environment: Environment;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  readonly logLevel: LogLevel;
  readonly limits: Limits;
  readonly timeouts: Timeouts;
}

/** Starts the service in this process. */
export async function startServing(
  { environment, host, port, metricsPort, metricsHost, limits, timeouts }: ServingOptions,
  { pool, secretsFile, log }: { pool: pg.Pool; secretsFile: string; log: Log },
  shareMetrics?: ServiceOptions["shareMetrics"],
): Promise<RunningService> {
  const keys = await openKeyring(secretsFile, pool);
  const where = { host, port, metricsPort, metricsHost };
  return startService({ pool, keys, environment, log, limits, timeouts, shareMetrics, ...where });
}

export const logOf = ({ logLevel: level, environment }: ServingOptions): Log => openLog({ level, environment });

/** A worker's task. It is sent over the channel between the processes, since the address holds a password. */
export interface WorkerTask {
  readonly serving: ServingOptions;
  readonly databaseUrl: string;
  readonly secretsFile: string;
  readonly maxConnections: number;
}

export type ToWorker =
  | { readonly type: "giftcard:start"; readonly task: WorkerTask }
  /** The steps of a shutdown, in this order. The worker confirms the second step. */
  | { readonly type: "giftcard:announce-end" }
  | { readonly type: "giftcard:stop-listening" }
  | { readonly type: "giftcard:close"; readonly idleMs: number };

export type FromWorker =
  | { readonly type: "giftcard:ready"; readonly url: string }
  | { readonly type: "giftcard:failed"; readonly error: string; readonly exitCode: number }
  | { readonly type: "giftcard:stopped-listening" };
