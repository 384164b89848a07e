import { parentPort, workerData } from "node:worker_threads";
import { type RunOptions, runHistories } from "./run.js";

/** Plays histories in a thread of its own, and posts the result. */
const result = await runHistories({
  ...(workerData as RunOptions),
  onProgress: (histories, failures) => {
    if (histories % 200 === 0) parentPort?.postMessage({ histories, failures });
  },
});
parentPort?.postMessage({ result });
