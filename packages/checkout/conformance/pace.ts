import { AssertionError } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** Times of a case, at the pace at which it is tried. */
export interface Pace {
  /** A life, lease or window, in milliseconds. */
  ms(atFirst: number): number;
  wait(atFirst: number): Promise<void>;
}

/**
 * Tries a case about time, and once more much slower where that fails: on a slow machine a short life has run out before
 * its time, and a store that is wrong is wrong at every pace.
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
