import { setTimeout as sleep } from "node:timers/promises";
import type { Charge, Move } from "../store/charge.js";

const WAITS_MS = [50, 200, 800];

/** Retries a write if the store fails for a moment. The write must be idempotent, as every compare-and-set is. */
export async function retryUntilWritten<T>(write: () => Promise<T>): Promise<T> {
  for (const waitMs of WAITS_MS) {
    try {
      return await write();
    } catch {
      await sleep(waitMs);
    }
  }
  return write();
}

/** A queue, in this process's memory, of changes that the store could not take. */
export interface LateWrites {
  add(reference: string, move: Move): void;
  /** Writes the queued changes. Those that fail again stay queued. Never throws. */
  flush(): Promise<void>;
}

/** @param move writes and announces a change */
export function createLateWrites(
  move: (reference: string, move: Move) => Promise<Charge | null>,
  report: (failure: unknown) => void,
): LateWrites {
  const queued = new Map<string, Move>();
  return {
    add: (reference, change) => void queued.set(reference, change),
    async flush() {
      for (const [reference, change] of [...queued]) {
        try {
          await move(reference, change);
          queued.delete(reference);
        } catch (error) {
          report(error);
        }
      }
    },
  };
}
