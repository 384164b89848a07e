import { existsSync } from "node:fs";
import { requireAddress } from "../http/server.js";
import type { Limits, Timeouts } from "../limits/limits.js";
import { type Log, type LogLevel, openLog } from "../monitoring/log.js";
import { clusterDir } from "../postgres/server.js";
import { startService } from "../service.js";
import type { Environment } from "../store/environment.js";
import { type CommonOptions, type Context, withContext } from "./context.js";
import { type EndingSignals, endInOrder } from "./ending.js";

export interface ServeOptions extends CommonOptions {
  readonly port: number;
  readonly host: string;
  readonly environment: Environment;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  readonly logLevel: LogLevel;
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  readonly stopGrace: number;
}

/** Serves until a signal to end, or until the database is lost. */
export async function serve(options: ServeOptions, signals: EndingSignals): Promise<void> {
  const { databaseUrl, dataDir, environment, logLevel: level, host, port, metricsHost, metricsPort } = options;
  const log = openLog({ level, environment });
  // Before a database is created in vain.
  if (databaseUrl === undefined && !existsSync(clusterDir(dataDir))) {
    await requireAddress(host, port);
    if (metricsPort) await requireAddress(metricsHost, metricsPort);
  }
  const onBroken = (error: Error) => log.failure({ error });
  await withContext(options, (context) => serveIn(context, options, log, signals), { role: "serve", onBroken });
}

async function serveIn(
  { pool, out, databaseLost, keyring }: Context,
  options: ServeOptions,
  log: Log,
  { requested, atOnce }: EndingSignals,
): Promise<void> {
  const { environment, stopGrace } = options;
  const service = await startService({ ...options, pool, keys: await keyring(), log });
  const { url, metricsUrl } = service;
  out.result(
    { url, metrics_url: metricsUrl, environment, pid: process.pid },
    `giftcard-service (${environment}) is ready at ${url}${metricsUrl ? `, metrics at ${metricsUrl}` : ""}`,
  );
  try {
    await Promise.race([requested, databaseLost]);
  } catch (error) {
    // Ends without the database. The process manager restarts the service, and with it the database.
    await service.close(0);
    throw error;
  }
  await endInOrder(service, stopGrace * 1000, atOnce);
}
