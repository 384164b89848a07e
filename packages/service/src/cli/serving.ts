import type { Limits, Timeouts } from "../limits/limits.js";
import type { LogLevel } from "../monitoring/log.js";
import type { Environment } from "../store/environment.js";
import type { CommonOptions } from "./context.js";

export interface ServeOptions extends CommonOptions {
  readonly port: number;
  readonly host: string;
  readonly environment: Environment;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  readonly logLevel: LogLevel;
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  readonly workers: number;
  readonly stopGrace: number;
}

/** A worker's task. It is sent over the channel between the processes, since the address holds a password. */
export interface WorkerTask {
  readonly serving: Omit<ServeOptions, "metricsPort">;
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
  /** It listens for its task. Node.js drops messages that arrive before that. */
  | { readonly type: "giftcard:waiting" }
  | { readonly type: "giftcard:ready"; readonly url: string }
  | { readonly type: "giftcard:failed"; readonly error: string; readonly exitCode: number }
  | { readonly type: "giftcard:stopped-listening" };
