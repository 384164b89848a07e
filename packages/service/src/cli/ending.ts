import { setTimeout as sleep } from "node:timers/promises";

/** When the process is asked to end: by SIGTERM, or at once by Ctrl-C, or by being asked again. */
export interface EndingSignals {
  readonly asked: Promise<void>;
  readonly atOnce: AbortSignal;
}

/** Listens for the signals, from now on. */
export function listenForSignals(): EndingSignals {
  const hurry = new AbortController();
  const asked = new Promise<void>((resolve) => {
    let times = 0;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        times += 1;
        if (times > 1 || signal === "SIGINT") hurry.abort();
        resolve();
      });
    }
  });
  return { asked, atOnce: hurry.signal };
}

/** What can be ended step by step: the service in this process, or all workers. */
export interface Ending {
  announceEnd(): void;
  stopListening(): void | Promise<void>;
  close(idleMs: number): Promise<void>;
}

/**
 * Ends a service so that nobody's call is lost: first /readyz says so, while everything goes on, and whoever sends it
 * calls has the grace to notice. Then it takes no more connections. Only then each answer is the last one on its
 * connection: so who is told to connect again finds nobody, rather than somebody who is about to leave.
 */
export async function endInOrder(service: Ending, graceMs: number, atOnce: AbortSignal): Promise<void> {
  service.announceEnd();
  await sleep(graceMs, undefined, { signal: atOnce }).catch(() => {});
  await service.stopListening();
  await service.close(atOnce.aborted ? 0 : graceMs);
}
