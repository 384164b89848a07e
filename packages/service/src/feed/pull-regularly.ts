import { setTimeout as sleep } from "node:timers/promises";

/** How a feed's turn ended. */
export type PullOutcome = "done" | { readonly retryAfterSeconds: number | undefined };

/** What is pulled regularly, and by what. */
export interface RegularPulls {
  readonly everyMs: number;
  /** The companies whose feeds there are now; asked again before each round. */
  readonly companies: () => Promise<readonly number[]>;
  /** Pulls one; fails only where none could be pulled. */
  readonly pull: (companyId: number) => Promise<PullOutcome>;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** A feed that was added is found so soon. */
const LOOK_AGAIN_MS = 60_000;
const LONGEST_BACK_OFF_MS = 6 * 60 * 60_000;

/**
 * Pulls feeds again and again, one after the other, until the signal. One that fails is pulled ever more rarely, and not
 * before its server asks for it.
 */
export async function pullRegularly({ everyMs, companies, pull, signal }: RegularPulls): Promise<void> {
  const turns = new Map<number, { dueAtMs: number; failures: number }>();
  while (!signal.aborted) {
    let nextAtMs = performance.now() + LOOK_AGAIN_MS;
    for (const companyId of await companies()) {
      if (signal.aborted) return;
      let turn = turns.get(companyId) ?? { dueAtMs: 0, failures: 0 };
      if (turn.dueAtMs <= performance.now()) {
        const outcome = await pull(companyId);
        const failures = outcome === "done" ? 0 : turn.failures + 1;
        turn = { dueAtMs: performance.now() + pauseOf(everyMs, failures, outcome), failures };
        turns.set(companyId, turn);
      }
      nextAtMs = Math.min(nextAtMs, turn.dueAtMs);
    }
    const pauseMs = Math.max(nextAtMs - performance.now(), 0);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** How long to wait after so many failures in a row: each time twice as long, and at least as long as the server asks. */
export function pauseOf(everyMs: number, failures: number, outcome: PullOutcome): number {
  const longestMs = Math.max(everyMs, LONGEST_BACK_OFF_MS);
  const backOffMs = Math.min(everyMs * 2 ** failures, longestMs);
  const askedMs = outcome === "done" ? 0 : (outcome.retryAfterSeconds ?? 0) * 1000;
  return Math.max(backOffMs, askedMs);
}
