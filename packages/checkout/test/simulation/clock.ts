/** Virtual time: events run in the order of their time, and nothing waits. */

const realImmediate = setImmediate;

/** Owns events. Its events don't run any more once it is dead, and wait while it is frozen. */
export interface Owner {
  isAlive: boolean;
  frozenUntil: number;
}

interface Event {
  at: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  run: (() => void) | undefined;
}

/** More events than any history needs: beyond them, something goes on for ever. */
const MOST_EVENTS = 20_000;

export class Clock {
  /** Milliseconds since 1970. */
  now = Date.UTC(2026, 0, 5, 9);
  readonly startedAt = this.now;
  /** Whose code is running. */
  current: Owner | undefined;
  /** How many events have run. */
  steps = 0;
  #order = 0;
  #events: Event[] = [];

  /** Runs something later, unless its owner is dead by then. @returns a function that prevents it */
  schedule(delayMs: number, run: () => void, owner?: Owner): () => void {
    this.#order += 1;
    const event: Event = { at: this.now + Math.max(0, delayMs), order: this.#order, owner, run };
    this.#events.push(event);
    return () => {
      event.run = undefined;
    };
  }

  /**
   * Runs all events up to a time.
   *
   * @returns false if they never end
   */
  async run(untilMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    for (let count = 0; count < MOST_EVENTS; count += 1) {
      const event = this.#take(untilMs);
      if (!event) {
        if (Number.isFinite(untilMs)) this.now = Math.max(this.now, untilMs);
        return true;
      }
      this.now = Math.max(this.now, event.at);
      await this.turn(event.owner, event.run as () => void);
    }
    return false;
  }

  /** Runs code of an owner, until all of its promises that can settle have settled. */
  async turn(owner: Owner | undefined, run: () => void): Promise<void> {
    this.steps += 1;
    this.current = owner;
    run();
    await new Promise((resolve) => realImmediate(resolve));
    this.current = undefined;
  }

  /** Takes the first event that can run. */
  #take(untilMs: number): Event | undefined {
    for (;;) {
      let first: Event | undefined;
      let index = 0;
      for (const [at, event] of this.#events.entries())
        if (!first || event.at < first.at || (event.at === first.at && event.order < first.order)) {
          first = event;
          index = at;
        }
      if (!first || first.at > untilMs) return undefined;
      const frozenUntil = first.owner?.frozenUntil ?? 0;
      if (first.run && first.owner?.isAlive !== false && frozenUntil > first.at) {
        first.at = frozenUntil;
        continue;
      }
      this.#events[index] = this.#events[this.#events.length - 1] as Event;
      this.#events.pop();
      if (first.run && first.owner?.isAlive !== false) return first;
    }
  }
}
