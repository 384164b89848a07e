import { performance } from "node:perf_hooks";

/** How long a call waits for its turn before the page has to ask again. */
const WAIT_MS = 20_000;
/** How long a cart whose call gave up keeps its position for the page's next call. */
const POSITION_MS = 15_000;
/** A completion that takes longer waits for somebody else, such as a bank, and doesn't use the processor. */
const PLACE_MS = 10_000;
/** A completion that takes longer hangs. Medusa's lock on its cart has expired. */
const LONGEST_MS = 120_000;
const CHECK_MS = 60;
/** The share of time in which the event loop may be busy if another completion is to begin. */
const BUSY = 0.2;

/** Ends a completion's turn. Idempotent. */
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
   * @returns `again` if another call of this cart has ended meanwhile: the cart may be an order now. null if the wait was
   *   too long, or the page disconnected; the cart then keeps its position for a while
   */
  enter(cartId: string, items: number, signal: AbortSignal): Promise<Leave | "again" | null>;
  /** Tells whether other carts are being completed, or wait for it. */
  isBusy(): boolean;
}

interface Waiter {
  readonly cartId: string;
  readonly isWide: boolean;
  readonly position: number;
  readonly end: (outcome: Leave | "again" | null) => void;
}

/** @param places the most completions at a time */
export function createCompletionQueue(places: number): CompletionQueue {
  let waiting: Waiter[] = [];
  /** The carts that are being completed, and whether the completion counts for the places. */
  const running = new Map<Waiter, boolean>();
  const positions = new Map<string, { position: number; until: number }>();
  let arrivals = 0;
  let timer: NodeJS.Timeout | undefined;
  let last = performance.eventLoopUtilization();

  const countPlaces = () => [...running.values()].filter(Boolean).length;

  function check(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    const taken = countPlaces();
    if (taken === 0 || (taken < places && utilization < BUSY)) admit();
    if (waiting.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function admit(): void {
    const others = [...running.keys()];
    const mayRun = ({ cartId, isWide }: Waiter) =>
      !others.some((other) => other.cartId === cartId || (isWide && other.isWide));
    const waiter = waiting.find(mayRun);
    if (!waiter) return;
    waiting.splice(waiting.indexOf(waiter), 1);
    running.set(waiter, true);
    const slow = setTimeout(() => running.set(waiter, false), PLACE_MS).unref();
    const leave = () => {
      clearTimeout(slow);
      clearTimeout(hung);
      if (!running.delete(waiter)) return;
      const same = waiting.filter(({ cartId }) => cartId === waiter.cartId);
      waiting = waiting.filter((other) => !same.includes(other));
      for (const { end } of same) end("again");
      if (countPlaces() === 0) admit();
    };
    const hung = setTimeout(leave, LONGEST_MS).unref();
    waiter.end(leave);
  }

  function positionOf(cartId: string): number {
    for (const [id, { until }] of positions) if (until < Date.now()) positions.delete(id);
    const kept = positions.get(cartId)?.position;
    positions.delete(cartId);
    return kept ?? arrivals++;
  }

  return {
    isBusy: () => running.size > 1 || waiting.length > 0,
    async enter(cartId, items, signal) {
      if (signal.aborted) return null;
      const position = positionOf(cartId);
      return new Promise((resolve) => {
        const giveUp = () => {
          waiting = waiting.filter((other) => other !== waiter);
          positions.set(cartId, { position, until: Date.now() + POSITION_MS });
          waiter.end(null);
        };
        const patience = setTimeout(giveUp, WAIT_MS);
        const end: Waiter["end"] = (outcome) => {
          clearTimeout(patience);
          signal.removeEventListener("abort", giveUp);
          resolve(outcome);
        };
        const waiter: Waiter = { cartId, isWide: items > 1, position, end };
        signal.addEventListener("abort", giveUp);
        const behind = waiting.findIndex((other) => other.position > position);
        waiting.splice(behind === -1 ? waiting.length : behind, 0, waiter);
        if (countPlaces() === 0) admit();
        timer ??= setInterval(check, CHECK_MS).unref();
      });
    },
  };
}
