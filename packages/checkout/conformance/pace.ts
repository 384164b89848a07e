import { AssertionError } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** The times of a case at a certain speed. */
export interface Pace {
  /** A life, lease or window, in milliseconds. */
  ms(atFirst: number): number;
  wait(atFirst: number): Promise<void>;
}

/**
 * Runs a case about time. If it fails, runs it again much slower: on a slow machine, short times may run out too early, but a
 * wrong store fails at every speed.
 */
export async function atAnyPace(run: (pace: Pace) => Promise<void>): Promise<void> {
  const at = (factor: number): Pace => ({
    ms: (atFirst) => atFirst * factor,
    wait: (atFirst) => sleep(atFirst * factor),
  });
  try {
    await run(at(1));
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
    await run(at(8));
  }
}
