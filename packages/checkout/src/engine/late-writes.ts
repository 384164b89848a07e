import { setTimeout as sleep } from "node:timers/promises";
import type { Charge, Move } from "../store/charge.js";

const WAITS_MS = [50, 200, 800];

/** Does it again where the store fails for a moment. Only for what may be done twice, as every compare-and-set may. */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (const waitMs of WAITS_MS) {
    try {
      return await work();
    } catch {
      await sleep(waitMs);
    }
  }
  return work();
}

/** Changes that the store couldn't take when they were made. This process keeps them until it can. */
export interface LateWrites {
  keep(reference: string, move: Move): void;
  /** Writes what was kept; what can't be written now stays. Never throws. */
  flush(): Promise<void>;
}

/** @param move how a change is written and told */
export function createLateWrites(
  move: (reference: string, move: Move) => Promise<Charge | null>,
  report: (failure: unknown) => void,
): LateWrites {
  const kept = new Map<string, Move>();
  return {
    keep: (reference, change) => void kept.set(reference, change),
    async flush() {
      for (const [reference, change] of [...kept]) {
        try {
          await move(reference, change);
          kept.delete(reference);
        } catch (error) {
          report(error);
        }
      }
    },
  };
}
