import { Worker } from "node:worker_threads";

/** @typedef {import("../../../packages/checkout/test/simulation/run.js").Result} Result */
/** @typedef {{ seed: number, histories: number, mostFailures: number, isShrunk: boolean, forMs?: number }} Options */

/**
 * Plays histories in a thread.
 *
 * @param {URL} worker
 * @param {Options} options
 * @param {AbortSignal} signal
 * @param {(histories: number) => void} [onProgress]
 * @returns {Promise<Result>}
 */
export function playInThread(worker, options, signal, onProgress = () => {}) {
  return new Promise((resolve, reject) => {
    const thread = new Worker(worker, { workerData: options });
    const stop = () => void thread.terminate();
    signal.addEventListener("abort", stop, { once: true });
    thread.on("message", (message) => {
      if (message.result) resolve(message.result);
      else onProgress(message.histories);
    });
    thread.once("error", reject);
    thread.once("exit", () => {
      signal.removeEventListener("abort", stop);
      reject(new Error("The thread has ended without a result."));
    });
  });
}
