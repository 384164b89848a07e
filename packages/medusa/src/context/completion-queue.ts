import { type EventLoopUtilization, performance } from "node:perf_hooks";

/** How long a cart whose call gave up keeps its place for the page's next call. */
const KEPT_MS = 15_000;
/** A completion that has not reserved its items by then waits for somebody else, such as a bank or a webhook. The next one begins. */
const SLOW_MS = 1_000;
/** A completion that takes longer hangs. Medusa's lock on its cart has expired. */
const LONGEST_MS = 120_000;
/** Once a cart has reserved its items, other pages have the process for as long as it was busy meanwhile, but not for longer. */
const LONGEST_REST_MS = 500;
/** How often a page may repeat a completion that failed for an unknown reason. */
const REPEATS = 2;
/** The number of carts of which such failures are remembered. */
const MOST_FAILED = 1000;

/** Ends a completion's turn. Idempotent. */
export type Leave = () => void;

/** A cart's place, with the calls that wait for it. */
interface Place {
  readonly cartId: string;
  calls: Call[];
  /** The time until which the place is kept if no call waits for it. */
  until: number;
}

type Call = (outcome: Leave | "again" | null) => void;

interface Run {
  readonly startedAt: EventLoopUtilization;
  isResting: boolean;
}

export type CompletionQueue = ReturnType<typeof createCompletionQueue>;

/**
 * Lets carts reserve their items one after the other, in the order of their arrival, so that an on-sale is not slower,
 * and other pages keep working. Once a cart has reserved, its completion mostly waits for a bank, and the next one begins.
 */
export function createCompletionQueue() {
  let places: Place[] = [];
  const running = new Map<string, Run>();
  /** The completion that reserves its items, or has just done so. */
  let current: Run | null = null;
  const failures = new Map<string, number>();
  let isListening = false;
  let isClosed = false;

  function admit(): void {
    if (current) return;
    const place = places.find(({ cartId, calls }) => calls.length > 0 && !running.has(cartId));
    const call = place?.calls.shift();
    if (place && call) call(begin(place.cartId));
  }

  function begin(cartId: string): Leave {
    const run = { startedAt: performance.eventLoopUtilization(), isResting: false };
    current = run;
    running.set(cartId, run);
    const leave = () => {
      clearTimeout(slow);
      clearTimeout(hung);
      if (running.get(cartId) !== run) return;
      running.delete(cartId);
      const place = places.find((place) => place.cartId === cartId);
      for (const call of place?.calls.splice(0) ?? []) call("again");
      if (current === run && !run.isResting) next();
    };
    const slow = setTimeout(() => giveWay(run), SLOW_MS).unref();
    const hung = setTimeout(leave, LONGEST_MS).unref();
    return leave;
  }

  function giveWay(run: Run): void {
    if (current !== run || run.isResting) return;
    run.isResting = true;
    const { active } = performance.eventLoopUtilization(run.startedAt);
    setTimeout(next, Math.min(active, LONGEST_REST_MS));
  }

  function next(): void {
    current = null;
    admit();
  }

  function placeOf(cartId: string): Place {
    places = places.filter(({ calls, until }) => calls.length > 0 || until > Date.now());
    const kept = places.find((place) => place.cartId === cartId);
    if (kept) return kept;
    const place = { cartId, calls: [], until: 0 };
    places.push(place);
    return place;
  }

  /** Tells whether other carts are being completed, or wait for it. */
  const isBusy = () => running.size > 1 || places.some(({ calls }) => calls.length > 0);

  /** Admits no more carts once the process ends. Medusa waits for open calls before it tells its modules. */
  function listen(): void {
    if (isListening) return;
    isListening = true;
    const close = () => {
      isClosed = true;
      for (const { calls } of places) for (const call of calls.splice(0)) call(null);
    };
    // Alone, a listener would keep the signal from ending the process. Medusa has its own by now.
    for (const signal of ["SIGTERM", "SIGINT"]) if (process.listenerCount(signal) > 0) process.once(signal, close);
  }

  return {
    /**
     * Waits until the cart may be completed.
     * @param signal is aborted if the page disconnects, or has waited for too long. The cart then keeps its place for a while
     * @returns null if the signal is aborted, or the process ends; `again` if another call of this cart has ended
     *   meanwhile: the cart may be an order now
     */
    async enter(cartId: string, signal: AbortSignal): Promise<Leave | "again" | null> {
      listen();
      if (signal.aborted || isClosed) return null;
      return new Promise((resolve) => {
        const place = placeOf(cartId);
        const call: Call = (outcome) => {
          signal.removeEventListener("abort", giveUp);
          resolve(outcome);
        };
        const giveUp = () => {
          place.calls = place.calls.filter((other) => other !== call);
          place.until = Date.now() + KEPT_MS;
          call(null);
        };
        signal.addEventListener("abort", giveUp);
        place.calls.push(call);
        admit();
      });
    },
    /** Lets the next cart begin, if the cart is being completed. */
    hasReserved(cartId: string): void {
      const run = running.get(cartId);
      if (run) giveWay(run);
    },
    isRunning: (cartId: string): boolean => running.has(cartId),
    isBusy,
    /**
     * Tells whether a page may repeat a completion that failed for an unknown reason: not if no other cart could have
     * caused it, and not for ever.
     */
    mayRepeat(cartId: string): boolean {
      const failed = (failures.get(cartId) ?? 0) + 1;
      failures.delete(cartId);
      failures.set(cartId, failed);
      for (const [oldest] of failures) if (failures.size > MOST_FAILED) failures.delete(oldest);
      return isBusy() && failed <= REPEATS;
    },
  };
}
