import cluster, { type Worker } from "node:cluster";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AggregatorRegistry } from "prom-client";
import { listenForMetrics } from "../http/operator-routes.js";
import type { RunningServer } from "../http/server.js";
import type { Log } from "../log.js";
import { OperatorError } from "../operator-error.js";
import type { ServingOptions } from "./serving.js";
import type { FromWorker, ToWorker, WorkerTask } from "./worker-messages.js";

/** Connections of all workers together, below what PostgreSQL allows by default. */
const MAX_CONNECTIONS = 80;
const RESTART_AFTER_MS = 100;
const LONGEST_RESTART_MS = 5000;
const SETTLED_AFTER_MS = 10_000;

/** Several processes that share one port. */
export interface RunningWorkers extends RunningServer {
  readonly metricsUrl: string | undefined;
}

/**
 * Starts the workers, and replaces each that dies until `close` is called.
 *
 * @throws {OperatorError} when one cannot begin to serve; none is left running
 */
export async function startWorkers(
  count: number,
  options: ServingOptions,
  { databaseUrl, secretsFile, log }: { databaseUrl: string; secretsFile: string; log: Log },
): Promise<RunningWorkers> {
  const { metricsPort, ...serving } = options;
  const maxConnections = Math.max(4, Math.min(16, Math.floor(MAX_CONNECTIONS / count)));
  const task: WorkerTask = {
    serving,
    databaseUrl,
    secretsFile,
    maxConnections,
    metricsElsewhere: metricsPort !== undefined,
  };
  const registry = new AggregatorRegistry();
  cluster.setupPrimary({ exec: path.join(import.meta.dirname, "worker.js"), args: [] });
  cluster.on("message", (worker, message: FromWorker) => {
    if (message.type !== "giftcard:metrics-please") return;
    const answer = (text?: string) => send(worker, { type: "giftcard:metrics", id: message.id, text });
    registry.clusterMetrics().then(answer, () => answer());
  });

  let stopping = false;
  const keepOne = async (first: Worker) => {
    for (
      let worker = first, delayMs = RESTART_AFTER_MS;
      ;
      delayMs = Math.min(delayMs * 2, LONGEST_RESTART_MS)
    ) {
      const startedAt = Date.now();
      const { code, signal } = await endOf(worker);
      if (stopping) return;
      if (Date.now() - startedAt > SETTLED_AFTER_MS) delayMs = RESTART_AFTER_MS;
      log.workerLost({ workerPid: worker.process.pid, code, signal });
      await sleep(delayMs);
      if (stopping) return;
      worker = cluster.fork();
      ready(worker, task).catch(() => worker.kill("SIGTERM"));
    }
  };

  const workers = Array.from({ length: count }, () => cluster.fork());
  const stop = async () => {
    stopping = true;
    const living = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const ended = living.map(endOf);
    for (const worker of living) worker.process.kill("SIGTERM");
    await Promise.all(ended);
  };
  try {
    const [url] = (await Promise.all(workers.map((worker) => ready(worker, task)))) as [string];
    for (const worker of workers) void keepOne(worker);
    const metricsServer =
      metricsPort === undefined
        ? undefined
        : await listenForMetrics(() => registry.clusterMetrics(), options.host, metricsPort);
    const close = async () => {
      await stop();
      await metricsServer?.close();
    };
    return { url, metricsUrl: metricsServer?.url, close };
  } catch (error) {
    await stop();
    throw error;
  }
}

function send(worker: Worker, message: ToWorker): void {
  // One that has just died needs no answer any more.
  if (worker.isConnected()) worker.send(message, () => {});
}

const endOf = (worker: Worker) =>
  new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    if (worker.isDead()) resolve({ code: worker.process.exitCode, signal: worker.process.signalCode });
    else worker.once("exit", (code, signal) => resolve({ code, signal }));
  });

/** Gives a worker its task, and waits until it serves; the address. */
function ready(worker: Worker, task: WorkerTask): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.once("online", () => send(worker, { type: "giftcard:start", task }));
    worker.on("message", (message: FromWorker) => {
      if (message.type === "giftcard:ready") resolve(message.url);
      if (message.type === "giftcard:failed") reject(new OperatorError(message.error, message.exitCode));
    });
    worker.once("exit", () => reject(new OperatorError("A worker ended before it could serve.")));
  });
}
