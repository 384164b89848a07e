import { setTimeout as sleep } from "node:timers/promises";

/** The outcome of a pull: success, or a failure, with the time that the server asks to wait. */
export type PullOutcome = "done" | { readonly retryAfterSeconds: number | undefined };

/** Options of {@link pullRegularly}. */
export interface RegularPulls {
  readonly everyMs: number;
  /** Lists the companies with a feed. Called before each round. */
  readonly companies: () => Promise<readonly number[]>;
  /** Pulls one company's feed. Rejects only if no feed can be pulled, for example without a database. */
  readonly pull: (companyId: number) => Promise<PullOutcome>;
  /** Stops the pulls. */
  readonly signal: AbortSignal;
}

/** The longest time until a new feed is noticed. */
const LOOK_AGAIN_MS = 60_000;
const LONGEST_BACK_OFF_MS = 6 * 60 * 60_000;

/**
 * Pulls feeds periodically, one after the other, until the signal. After failures, waits exponentially longer, and at least
 * as long as the server asks.
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

/** Returns the pause after a number of consecutive failures: doubled each time, and at least as long as the server asks. */
export function pauseOf(everyMs: number, failures: number, outcome: PullOutcome): number {
  const longestMs = Math.max(everyMs, LONGEST_BACK_OFF_MS);
  const backOffMs = Math.min(everyMs * 2 ** failures, longestMs);
  const askedMs = outcome === "done" ? 0 : (outcome.retryAfterSeconds ?? 0) * 1000;
  return Math.max(backOffMs, askedMs);
}
