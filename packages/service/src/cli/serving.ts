import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { type Log, type LogLevel, openLog } from "../log.js";
import { openKeyring } from "../secrets.js";
import { type RunningService, type ServiceOptions, startService } from "../service.js";
import type { Environment } from "../store/environment.js";
import type { AddressOptions } from "./address-options.js";
import { type LimitOptions, limitsOf, timeoutsOf } from "./limit-options.js";

/** What `serve` was asked for; it also goes, as JSON, to each worker. */
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

export const logOf = ({ logLevel: level, environment }: ServingOptions): Log =>
  openLog({ level, environment });

/** When the process is asked to end: by SIGTERM, or at once by Ctrl-C, or by being asked again. */
export interface EndingSignals {
  readonly asked: Promise<void>;
  readonly atOnce: AbortSignal;
}

/** Listens for the signals, from now on. */
export function listenForSignals(): EndingSignals {
  const hurry = new AbortController();
  const asked = new Promise<void>((resolve) => {
    let times = 0;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        times += 1;
        if (times > 1 || signal === "SIGINT") hurry.abort();
        resolve();
      });
    }
  });
  return { asked, atOnce: hurry.signal };
}

/** What can be ended step by step: the service in this process, or all workers. */
export interface Ending {
  announceEnd(): void;
  stopListening(): void | Promise<void>;
  close(idleMs: number): Promise<void>;
}

/**
 * Ends a service so that nobody's call is lost: first /readyz says so, while everything goes on, and whoever sends it
 * calls has the grace to notice. Then it takes no more connections. Only then each answer is the last one on its
 * connection: so who is told to connect again finds nobody, rather than somebody who is about to leave.
 */
export async function endInOrder(service: Ending, graceMs: number, atOnce: AbortSignal): Promise<void> {
  service.announceEnd();
  await sleep(graceMs, undefined, { signal: atOnce }).catch(() => {});
  await service.stopListening();
  await service.close(atOnce.aborted ? 0 : graceMs);
}
