/** How a {@link Batcher} works. */
export interface BatcherOptions<Item, Result> {
  /**
   * Does the work for several items; its results are in their order. One that is a promise is still being worked on,
   * and keeps neither the others nor the next run waiting.
   */
  readonly run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;
  /** How many runs go on at the same time. */
  readonly runsAtOnce: number;
  readonly maxItems: number;
  /** Items of one lane are never worked on by two runs at the same time, as they would wait for each other. */
  readonly laneOf?: (item: Item) => string;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly lane: string | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins work that is asked for while earlier work is on its way. Nothing waits for company: where there is room, an
 * item is run at once, alone; while there is none, those that come in go together next.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  /** How many items of a lane are being worked on. */
  readonly #busyLanes = new Map<string, number>();
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #scheduled = false;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /** Runs an item, together with others or alone. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, lane: this.#options.laneOf?.(item), resolve, reject });
      if (this.#scheduled) return;
      // All that arrived in this turn of the loop go together.
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#start();
      });
    });
  }

  #start(): void {
    while (this.#running < this.#options.runsAtOnce) {
      const chosen = this.#choose();
      if (chosen.length === 0) return;
      void this.#run(chosen);
    }
  }

  #choose(): Waiting<Item, Result>[] {
    const free = this.#waiting.filter(({ lane }) => lane === undefined || !this.#busyLanes.has(lane));
    // A power of two, so that few sizes of statement are prepared.
    const size =
      free.length === 0 ? 0 : 2 ** Math.floor(Math.log2(Math.min(free.length, this.#options.maxItems)));
    const chosen = new Set(free.slice(0, size));
    this.#waiting = this.#waiting.filter((one) => !chosen.has(one));
    return [...chosen];
  }

  async #run(chosen: readonly Waiting<Item, Result>[]): Promise<void> {
    this.#running += 1;
    for (const one of chosen) this.#countLane(one, 1);
    let results: readonly (Result | Promise<Result>)[];
    try {
      results = await this.#options.run(chosen.map(({ item }) => item));
    } catch (error) {
      results = chosen.map(() => Promise.reject(error));
    }
    this.#running -= 1;
    chosen.forEach((one, index) => {
      const result = results[index] as Result | Promise<Result>;
      if (result instanceof Promise) void this.#finish(one, result);
      else {
        this.#countLane(one, -1);
        one.resolve(result);
      }
    });
    this.#start();
  }

  async #finish(one: Waiting<Item, Result>, result: Promise<Result>): Promise<void> {
    try {
      one.resolve(await result);
    } catch (error) {
      one.reject(error);
    } finally {
      this.#countLane(one, -1);
      this.#start();
    }
  }

  #countLane({ lane }: Waiting<Item, Result>, by: number): void {
    if (lane === undefined) return;
    const count = (this.#busyLanes.get(lane) ?? 0) + by;
    if (count > 0) this.#busyLanes.set(lane, count);
    else this.#busyLanes.delete(lane);
  }
}
