import type { ServingOptions } from "./serving.js";

/** What a worker is to do. It comes over the channel between the processes: the address holds a password. */
export interface WorkerTask {
  readonly serving: ServingOptions;
  readonly databaseUrl: string;
  readonly secretsFile: string;
  readonly maxConnections: number;
}

export type ToWorker =
  | { readonly type: "giftcard:start"; readonly task: WorkerTask }
  /** The steps of its end, in this order; the second is answered. */
  | { readonly type: "giftcard:announce-end" }
  | { readonly type: "giftcard:stop-listening" }
  | { readonly type: "giftcard:close"; readonly idleMs: number };

export type FromWorker =
  | { readonly type: "giftcard:ready"; readonly url: string }
  | { readonly type: "giftcard:failed"; readonly error: string; readonly exitCode: number }
  | { readonly type: "giftcard:listens-no-more" };
