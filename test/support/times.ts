import { afterAll, expect } from "vitest";
import { readCpuSeconds, recordTime } from "../../scripts/process/times.mjs";

/** The processor time of this worker when its previous file ended: a worker may run several files. */
const worker = globalThis as { giftcardCpuSeconds?: number };

/** vitest's `setupFiles`: registered first, this runs after the file's own `afterAll`, so its processes have ended. */
afterAll(() => {
  const total = readCpuSeconds("self");
  const file = expect.getState().testPath ?? "unknown";
  recordTime({
    file,
    cpuSeconds: total === undefined ? undefined : total - (worker.giftcardCpuSeconds ?? 0),
  });
  if (total !== undefined) worker.giftcardCpuSeconds = total;
});
