// A process of `serve --workers`: it waits for its task, serves, and ends gracefully.
import { AggregatorRegistry, type Registry } from "prom-client";
import { openPool } from "../database/database.js";
import { openLog } from "../monitoring/log.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type RunningService, startService } from "../service.js";
import { openKeyring } from "../store/secret-generations.js";
import type { FromWorker, ToWorker, WorkerTask } from "./serving.js";

const report = (message: FromWorker) =>
  new Promise<void>((resolve) => {
    if (process.send) process.send(message, () => resolve());
    else resolve();
  });

// Ignores the signals: they reach the first process too, which ends the workers in order.
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => {});
let service: RunningService | undefined;
let start: (task: WorkerTask) => void;
let end: (idleMs: number) => void;
const started = new Promise<WorkerTask>((resolve) => (start = resolve));
const ended = new Promise<number>((resolve) => (end = resolve));
process.on("message", (message: ToWorker) => {
  if (message.type === "giftcard:start") start(message.task);
  if (message.type === "giftcard:announce-end") service?.announceEnd();
  if (message.type === "giftcard:close") end(message.idleMs);
  if (message.type !== "giftcard:stop-listening") return;
  service?.stopListening();
  void report({ type: "giftcard:stopped-listening" });
});
await report({ type: "giftcard:waiting" });
const { serving, databaseUrl, secretsFile, maxConnections } = await started;
const log = openLog({ level: serving.logLevel, environment: serving.environment });
const pool = openPool(databaseUrl, (error) => log.failure({ error }), maxConnections);
// The first process collects the metrics of all workers.
const shareMetrics = (registry: Registry) => {
  new AggregatorRegistry();
  AggregatorRegistry.setRegistries([registry]);
};
try {
  const keys = await openKeyring(secretsFile, pool);
  service = await startService({ ...serving, pool, keys, log, shareMetrics });
  await report({ type: "giftcard:ready", url: service.url });
  await service.close(await ended);
} catch (error) {
  const known = error instanceof OperatorError;
  if (!known) log.failure({ error });
  const message = known ? error.message : "A worker failed. Its log line says where.";
  await report({ type: "giftcard:failed", error: message, exitCode: known ? error.exitCode : exitCodes.failed });
  process.exitCode = exitCodes.failed;
} finally {
  await pool.end();
  if (process.connected) process.disconnect();
}
