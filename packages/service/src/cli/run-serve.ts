import { existsSync } from "node:fs";
import { requireAddress } from "../http/server.js";
import type { Log } from "../monitoring/log.js";
import { clusterDir } from "../postgres/server.js";
import { type CommonOptions, type Context, withContext } from "./context.js";
import { type EndingSignals, endInOrder } from "./ending.js";
import { logOf, type ServingOptions, startServing } from "./serving.js";
import { startWorkers } from "./workers.js";

export interface ServeOptions extends CommonOptions, ServingOptions {
  readonly workers: number;
  readonly stopGrace: number;
}

/** Serves until a signal to end, or until the database is lost. */
export async function serve(options: ServeOptions, signals: EndingSignals): Promise<void> {
  const log = logOf(options);
  if (options.databaseUrl === undefined && !existsSync(clusterDir(options.dataDir))) await requireAddresses(options);
  await withContext(options, (context) => serveIn(context, options, log, signals), {
    role: "serve",
    onBroken: (error) => log.failure({ error }),
  });
}

/** Checks the addresses before a database is created in vain. */
async function requireAddresses({ host, port, metricsHost, metricsPort }: ServeOptions): Promise<void> {
  await requireAddress(host, port);
  if (metricsPort) await requireAddress(metricsHost, metricsPort);
}

async function serveIn(
  { pool, out, databaseUrl, databaseLost, secretsFile, keyring }: Context,
  options: ServeOptions,
  log: Log,
  { requested, atOnce }: EndingSignals,
): Promise<void> {
  const { environment, workers, stopGrace } = options;
  const parts = { pool, databaseUrl, secretsFile: secretsFile(), log };
  // Creates the file, if there is none, before several workers need it.
  await keyring();
  const service = workers > 1 ? await startWorkers(workers, options, parts) : await startServing(options, parts);
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
