/** Limits concurrent work: a number runs, a number waits, and more is rejected. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(
    private readonly atOnce: number,
    private readonly mayWait = 0,
  ) {}

  /**
   * Runs the work when a place is free.
   *
   * @returns undefined, immediately, if too much work waits already: nothing was started
   */
  run<T>(work: () => Promise<T>): Promise<T> | undefined {
    const entered = this.enter();
    return entered && this.#work(entered, work);
  }

  async #work<T>(entered: Promise<() => void>, work: () => Promise<T>): Promise<T> {
    const leave = await entered;
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Waits for a place.
   *
   * @returns a function that frees the place, to be called once; undefined, immediately, if too much work waits already
   */
  enter(): Promise<() => void> | undefined {
    const leave = () => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    };
    if (this.#running < this.atOnce) {
      this.#running += 1;
      return Promise.resolve(leave);
    }
    if (this.#waiting.length >= this.mayWait) return undefined;
    // The leaving work hands its place over, so the count stays.
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() => leave);
  }
}
