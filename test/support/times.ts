import { afterAll, expect } from "vitest";
import { readCpuSeconds, recordTime } from "../../scripts/lib/process/times.mjs";
import { readRunningCpuSeconds } from "../../scripts/lib/process.mjs";

/** This worker's CPU time at the end of its previous test file. A worker may run several files. */
const worker = globalThis as { giftcardCpuSeconds?: number };

// vitest's `setupFiles` register this hook first, so it runs after the file's own `afterAll` has ended its processes.
afterAll(() => {
  const own = readCpuSeconds("self");
  // A shared shop is still running.
  const total = own === undefined ? undefined : own + readRunningCpuSeconds();
  const file = expect.getState().testPath ?? "unknown";
  recordTime({
    file,
    cpuSeconds: total === undefined ? undefined : total - (worker.giftcardCpuSeconds ?? 0),
  });
  if (total !== undefined) worker.giftcardCpuSeconds = total;
});
