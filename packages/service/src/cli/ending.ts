import { setTimeout as sleep } from "node:timers/promises";
import type { RunningService } from "../service.js";

/** Signals to end: gracefully by SIGTERM; at once by SIGINT, or by a second signal. */
export interface EndingSignals {
  readonly requested: Promise<void>;
  readonly atOnce: AbortSignal;
}

/** Starts to listen for the signals. */
export function listenForSignals(): EndingSignals {
  const hurry = new AbortController();
  const requested = new Promise<void>((resolve) => {
    let times = 0;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        times += 1;
        if (times > 1 || signal === "SIGINT") hurry.abort();
        resolve();
      });
    }
  });
  return { requested, atOnce: hurry.signal };
}

/**
 * Ends a service without losing calls. First, /readyz reports the end for the grace period, so that proxies stop sending
 * calls. Then the service accepts no more connections. Only then does it close connections after their answers: a caller
 * that reconnects must not reach a process that is ending.
 */
export async function endInOrder(service: RunningService, graceMs: number, atOnce: AbortSignal): Promise<void> {
  service.announceEnd();
  await sleep(graceMs, undefined, { signal: atOnce }).catch(() => {});
  service.stopListening();
  await service.close(atOnce.aborted ? 0 : graceMs);
}
