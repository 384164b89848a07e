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

/** Serves until it is told to end, or has lost its database. */
export async function serve(options: ServeOptions, signals: EndingSignals): Promise<void> {
  const log = logOf(options);
  if (options.databaseUrl === undefined && !existsSync(clusterDir(options.dataDir)))
    await requireAddresses(options);
  await withContext(options, (context) => serveIn(context, options, log, signals), {
    role: "serve",
    onBroken: (error) => log.failure({ error }),
  });
}

/** No database is made where nobody can be served. */
async function requireAddresses({ host, port, metricsHost, metricsPort }: ServeOptions): Promise<void> {
  await requireAddress(host, port);
  if (metricsPort) await requireAddress(metricsHost, metricsPort);
}

async function serveIn(
  { pool, out, databaseUrl, databaseLost, secretsFile, keyring }: Context,
  options: ServeOptions,
  log: Log,
  { asked, atOnce }: EndingSignals,
): Promise<void> {
  const { environment, workers, stopGrace } = options;
  const parts = { pool, databaseUrl, secretsFile: secretsFile(), log };
  // Makes the file where there is none yet, before several processes look for it.
  await keyring();
  const service =
    workers > 1 ? await startWorkers(workers, options, parts) : await startServing(options, parts);
  const { url, metricsUrl } = service;
  out.result(
    { url, metrics_url: metricsUrl, environment, pid: process.pid },
    `giftcard-service (${environment}) is ready at ${url}${metricsUrl ? `, metrics at ${metricsUrl}` : ""}`,
  );
  try {
    await Promise.race([asked, databaseLost]);
  } catch (error) {
    // Nothing can be done without it. Whoever watches over processes starts this one again, and the database with it.
    await service.close(0);
    throw error;
  }
  await endInOrder(service, stopGrace * 1000, atOnce);
}
