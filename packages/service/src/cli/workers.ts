import cluster, { type Worker } from "node:cluster";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AggregatorRegistry } from "prom-client";
import { listenForMetrics } from "../http/operator-routes.js";
import type { Log } from "../monitoring/log.js";
import { OperatorError } from "../operator-error.js";
import type { Ending } from "./ending.js";
import type { FromWorker, ServeOptions, ToWorker, WorkerTask } from "./serving.js";

/** Connections of all workers together, fewer than PostgreSQL allows by default. */
const MAX_CONNECTIONS = 80;
const RESTART_AFTER_MS = 100;
const LONGEST_RESTART_MS = 5000;
const SETTLED_AFTER_MS = 10_000;

/**
 * Starts the workers, and replaces workers that die until `close` is called.
 *
 * @throws {OperatorError} if one cannot start; then none is left running
 */
export async function startWorkers(
  { metricsPort, ...serving }: ServeOptions,
  { databaseUrl, secretsFile, log }: { databaseUrl: string; secretsFile: string; log: Log },
): Promise<Ending & { url: string; metricsUrl: string | undefined }> {
  const maxConnections = Math.max(4, Math.min(16, Math.floor(MAX_CONNECTIONS / serving.workers)));
  const task: WorkerTask = { serving, databaseUrl, secretsFile, maxConnections };
  const registry = new AggregatorRegistry();
  cluster.setupPrimary({ exec: path.join(import.meta.dirname, "worker.js"), args: [] });

  let stopping = false;
  const replaceWhenDead = async (first: Worker) => {
    for (let worker = first, delayMs = RESTART_AFTER_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_RESTART_MS)) {
      const startedAt = Date.now();
      const { code, signal } = await endOf(worker);
      if (stopping) return;
      if (Date.now() - startedAt > SETTLED_AFTER_MS) delayMs = RESTART_AFTER_MS;
      log.workerLost({ workerPid: worker.process.pid, code, signal });
      await sleep(delayMs);
      if (stopping) return;
      worker = cluster.fork();
      ready(worker, task).catch(() => worker.process.kill("SIGKILL"));
    }
  };

  const workers = Array.from({ length: serving.workers }, () => cluster.fork());
  const announceEnd = () => {
    stopping = true;
    for (const worker of living()) send(worker, { type: "giftcard:announce-end" });
  };
  const stop = async (idleMs: number) => {
    stopping = true;
    const ended = living().map(endOf);
    for (const worker of living()) send(worker, { type: "giftcard:close", idleMs });
    await Promise.all(ended);
  };
  try {
    const [url] = (await Promise.all(workers.map((worker) => ready(worker, task)))) as [string];
    for (const worker of workers) void replaceWhenDead(worker);
    const metricsOptions = { host: serving.metricsHost, port: metricsPort, log };
    const metricsServer = await listenForMetrics(() => registry.clusterMetrics(), metricsOptions);
    const stopListening = async () => void (await Promise.all(living().map(stopListeningIn)));
    const close = async (idleMs: number) => {
      await stop(idleMs);
      await metricsServer?.close();
    };
    return { url, metricsUrl: metricsServer?.url, announceEnd, stopListening, close };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

const living = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Makes a worker accept no more connections, and waits until it confirms or ends. */
const stopListeningIn = (worker: Worker) =>
  new Promise<void>((resolve) => {
    void endOf(worker).then(() => resolve());
    worker.on("message", (message: FromWorker) => {
      if (message.type === "giftcard:stopped-listening") resolve();
    });
    send(worker, { type: "giftcard:stop-listening" });
  });

function send(worker: Worker, message: ToWorker): void {
  // A worker that has just died needs no message.
  if (worker.isConnected()) worker.send(message, () => {});
}

const endOf = (worker: Worker) =>
  new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    if (worker.isDead()) resolve({ code: worker.process.exitCode, signal: worker.process.signalCode });
    else worker.once("exit", (code, signal) => resolve({ code, signal }));
  });

/** Gives a worker its task, and waits until it serves. @returns the address */
function ready(worker: Worker, task: WorkerTask): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on("message", (message: FromWorker) => {
      if (message.type === "giftcard:waiting") send(worker, { type: "giftcard:start", task });
      if (message.type === "giftcard:ready") resolve(message.url);
      if (message.type === "giftcard:failed") reject(new OperatorError(message.error, message.exitCode));
    });
    worker.once("exit", () => reject(new OperatorError("A worker ended before it could serve.")));
  });
}
