export interface BatcherOptions<Item, Result> {
  /**
   * Works on several items, and returns their results in the same order. A result may be a promise: neither the other
   * results nor the next run wait for it.
   */
  readonly run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;
  readonly runsAtOnce: number;
  readonly maxItems: number;
  /** Groups items that would wait for each other: concurrent runs never work on the same lane. */
  readonly laneOf?: (item: Item) => string;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly lane: string | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches work under load. An item never waits for others: if fewer runs than allowed are in progress, it runs immediately.
 * Otherwise, the items that arrive meanwhile form the next batch.
 */
export class Batcher<Item, Result> {
  /** Number of items in progress by lane. */
  readonly #busyLanes = new Map<string, number>();
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #scheduled = false;

  constructor(private readonly options: BatcherOptions<Item, Result>) {}

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, lane: this.options.laneOf?.(item), resolve, reject });
      if (this.#scheduled) return;
      // Items of the same turn of the event loop form one batch.
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#start();
      });
    });
  }

  #start(): void {
    while (this.#running < this.options.runsAtOnce) {
      const chosen = this.#choose();
      if (chosen.length === 0) return;
      void this.#run(chosen);
    }
  }

  #choose(): Waiting<Item, Result>[] {
    const free = this.#waiting.filter(({ lane }) => lane === undefined || !this.#busyLanes.has(lane));
    // A power of two, so that few statements of different size are prepared.
    const size = free.length === 0 ? 0 : 2 ** Math.floor(Math.log2(Math.min(free.length, this.options.maxItems)));
    const chosen = new Set(free.slice(0, size));
    this.#waiting = this.#waiting.filter((one) => !chosen.has(one));
    return [...chosen];
  }

  async #run(chosen: readonly Waiting<Item, Result>[]): Promise<void> {
    this.#running += 1;
    for (const one of chosen) this.#countLane(one, 1);
    let results: readonly (Result | Promise<Result>)[];
    try {
      results = await this.options.run(chosen.map(({ item }) => item));
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
