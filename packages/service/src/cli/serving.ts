import type pg from "pg";
import { type Log, type LogLevel, openLog } from "../log.js";
import { openKeyring } from "../secrets.js";
import { type Environment, type RunningService, type ServiceOptions, startService } from "../service.js";
import { type LimitOptions, limitsOf, timeoutsOf } from "./limit-options.js";

/** What `serve` was asked for; it also goes, as JSON, to each worker. */
export interface ServingOptions extends LimitOptions {
  readonly port: number;
  readonly host: string;
  readonly environment: Environment;
  readonly metricsPort?: number;
  readonly logLevel: LogLevel;
}

/** Starts the service in this process. */
export async function startServing(
  options: ServingOptions,
  { pool, secretsFile, log }: { pool: pg.Pool; secretsFile: string; log: Log },
  more: Pick<ServiceOptions, "shareMetrics" | "metricsElsewhere"> = {},
): Promise<RunningService> {
  const { environment, host, port, metricsPort } = options;
  const keys = await openKeyring(secretsFile, pool);
  const [limits, timeouts] = [limitsOf(options), timeoutsOf(options)];
  return startService({ pool, keys, environment, host, port, log, limits, timeouts, metricsPort, ...more });
}

export const logOf = ({ logLevel: level, environment }: ServingOptions): Log =>
  openLog({ level, environment });

/** Resolves when the process is asked to end. */
export const askedToStop = () =>
  new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve());
  });
