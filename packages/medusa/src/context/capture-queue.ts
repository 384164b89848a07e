import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

/** If two orders arrive within this time, the shop is busy. */
const QUIET_MS = 3_000;
/** A shop that is busy for longer captures during its sales. */
const LONGEST_BUSY_MS = 5 * 60_000;
const POLL_MS = 250;
/** Recovery captures any further orders. */
const MOST_WAITING = 10_000;

/**
 * Captures orders in the background, one after the other. During an on-sale, it waits until no more orders arrive. After
 * each capture, it rests for as long as the capture took, so that pages have at least half of the process.
 */
export function createCaptureQueue() {
  const waiting = new Map<string, () => Promise<void>>();
  /** The latest series of orders in quick succession: the times of its first and last one, and their number. */
  let burst = { beganAt: 0, endedAt: 0, count: 0 };
  let isWorking = false;

  function noteArrival(): void {
    const now = performance.now();
    if (now - burst.endedAt >= QUIET_MS) burst = { beganAt: now, endedAt: now, count: 0 };
    burst.endedAt = now;
    burst.count += 1;
  }

  /** Tells whether orders arrive so fast that captures wait. */
  function isBusy(): boolean {
    const now = performance.now();
    return burst.count > 1 && now - burst.endedAt < QUIET_MS && now - burst.beganAt < LONGEST_BUSY_MS;
  }

  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    while (waiting.size > 0) {
      if (isBusy()) await rest(POLL_MS);
      else await captureNext();
    }
    isWorking = false;
  }

  async function captureNext(): Promise<void> {
    const [next] = waiting;
    if (!next) return;
    const [orderId, capture] = next;
    waiting.delete(orderId);
    const beganAt = performance.now();
    await capture();
    await rest(performance.now() - beganAt);
  }

  return {
    /** Adds an order that was just placed. `capture` must not fail. */
    add(orderId: string, capture: () => Promise<void>): void {
      noteArrival();
      if (waiting.size >= MOST_WAITING) return;
      waiting.set(orderId, capture);
      void work();
    },
    isBusy,
    /** Drops the waiting orders. Recovery captures them. */
    stop: (): void => waiting.clear(),
  };
}

const rest = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });
