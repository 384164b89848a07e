import type pg from "pg";
import { type Log, openLog } from "../monitoring/log.js";
import type { LogLevel } from "../monitoring/log-level.js";
import { type RunningService, type ServiceOptions, startService } from "../service.js";
import type { Environment } from "../store/environment.js";
import { openKeyring } from "../store/secret-generations.js";
import type { AddressOptions } from "./address-options.js";
import { type LimitOptions, limitsOf, timeoutsOf } from "./limit-options.js";

/** The options of `serve`. They are sent to each worker as JSON. */
export interface ServingOptions extends LimitOptions, AddressOptions {
  readonly environment: Environment;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  readonly logLevel: LogLevel;
}

/** Starts the service in this process. */
export async function startServing(
  options: ServingOptions,
  { pool, secretsFile, log }: { pool: pg.Pool; secretsFile: string; log: Log },
  shareMetrics?: ServiceOptions["shareMetrics"],
): Promise<RunningService> {
  const { environment, host, port, metricsPort, metricsHost } = options;
  const keys = await openKeyring(secretsFile, pool);
  const [limits, timeouts] = [limitsOf(options), timeoutsOf(options)];
  const where = { host, port, metricsPort, metricsHost };
  return startService({ pool, keys, environment, log, limits, timeouts, shareMetrics, ...where });
}

export const logOf = ({ logLevel: level, environment }: ServingOptions): Log => openLog({ level, environment });
