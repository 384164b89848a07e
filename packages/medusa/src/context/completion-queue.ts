import { performance } from "node:perf_hooks";

/** How long a call waits for its turn before the page has to ask again. */
const WAIT_MS = 20_000;
/** How long a cart keeps its position for the page's next call, which may have lost the response. */
const POSITION_MS = 15_000;
/** A completion that takes longer waits for somebody else, such as a bank, and doesn't use the processor. */
const PLACE_MS = 10_000;
const CHECK_MS = 20;
/** The share of time in which the event loop may be busy if another completion is to begin. */
const BUSY = 0.4;

/** Ends a completion's place. Idempotent. */
export type Leave = () => void;

/**
 * Completes carts in the order of their arrival, so that an on-sale is not slower, and other pages keep working. A
 * process completes one cart at a time, and more while its event loop has time for them. But it completes only one cart
 * with several stocked items at a time: two of them could each lock an item, and wait for the other's.
 */
export interface CompletionQueue {
  /**
   * Waits until the cart may be completed.
   * @param items the number of its stocked items
   * @param signal is aborted if the page disconnects
   * @returns null if the wait was too long, or the page disconnected. The cart keeps its position for a while
   */
  enter(cartId: string, items: number, signal: AbortSignal): Promise<Leave | null>;
}

interface Waiter {
  readonly cartId: string;
  readonly isWide: boolean;
  readonly position: number;
  readonly end: (leave: Leave | null) => void;
}

/** @param places the most completions at a time */
export function createCompletionQueue(places: number): CompletionQueue {
  const waiting: Waiter[] = [];
  const running = new Set<Waiter>();
  const positions = new Map<string, { position: number; until: number }>();
  let arrivals = 0;
  let timer: NodeJS.Timeout | undefined;
  let last = performance.eventLoopUtilization();

  function check(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (running.size === 0 || (running.size < places && utilization < BUSY)) admit();
    if (waiting.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function admit(): void {
    const isWideRunning = [...running].some(({ isWide }) => isWide);
    const next = waiting.findIndex(({ isWide }) => !isWide || !isWideRunning);
    const [waiter] = next === -1 ? [] : waiting.splice(next, 1);
    if (!waiter) return;
    running.add(waiter);
    const free = () => running.delete(waiter);
    const slow = setTimeout(free, PLACE_MS).unref();
    waiter.end(() => {
      clearTimeout(slow);
      keepPosition(waiter);
      if (free() && running.size === 0) admit();
    });
  }

  const keepPosition = ({ cartId, position }: Waiter) =>
    positions.set(cartId, { position, until: Date.now() + POSITION_MS });

  /** Returns the cart's position: that of its earlier call, if that one is not long ago. */
  function positionOf(cartId: string): number {
    for (const [id, { until }] of positions) if (until < Date.now()) positions.delete(id);
    const position = positions.get(cartId)?.position ?? arrivals++;
    positions.set(cartId, { position, until: Number.POSITIVE_INFINITY });
    return position;
  }

  return {
    async enter(cartId, items, signal) {
      if (signal.aborted) return null;
      const position = positionOf(cartId);
      return new Promise((resolve) => {
        const giveUp = () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          keepPosition(waiter);
          waiter.end(null);
        };
        const patience = setTimeout(giveUp, WAIT_MS);
        const end = (leave: Leave | null) => {
          clearTimeout(patience);
          signal.removeEventListener("abort", giveUp);
          resolve(leave);
        };
        const waiter: Waiter = { cartId, isWide: items > 1, position, end };
        signal.addEventListener("abort", giveUp);
        const behind = waiting.findIndex((other) => other.position > position);
        waiting.splice(behind === -1 ? waiting.length : behind, 0, waiter);
        if (running.size === 0) admit();
        else timer ??= setInterval(check, CHECK_MS).unref();
      });
    },
  };
}
