/** How a {@link Gathering} works. */
export interface GatherOptions<Item, Result> {
  /** Does the work for several items; its results are in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** How many runs go on at the same time. */
  readonly runsAtOnce: number;
  readonly maxItems: number;
  /** Items of one lane never stand in two runs at the same time, as they would wait for each other. */
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
export class Gathering<Item, Result> {
  readonly #options: GatherOptions<Item, Result>;
  readonly #busyLanes = new Set<string>();
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #scheduled = false;

  constructor(options: GatherOptions<Item, Result>) {
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
    for (const { lane } of chosen) if (lane !== undefined) this.#busyLanes.add(lane);
    try {
      const results = await this.#options.run(chosen.map(({ item }) => item));
      chosen.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      for (const { reject } of chosen) reject(error);
    } finally {
      this.#running -= 1;
      for (const { lane } of chosen) if (lane !== undefined) this.#busyLanes.delete(lane);
      this.#start();
    }
  }
}
