/** Lets so many be done at a time, some wait, and refuses the others. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(
    private readonly atOnce: number,
    private readonly mayWait = 0,
  ) {}

  /**
   * Does the work when its turn comes.
   *
   * @returns undefined, at once, when there is no room to wait either: nothing was begun
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
   * Waits for a turn.
   *
   * @returns ends the turn: call it once; undefined, at once, when there is no room to wait either
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
    // Whoever leaves hands over the place, so the count stays.
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() => leave);
  }
}
