/** Lets some pass at once, some wait, and turns the others away. */
export class Turnstile {
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(
    private readonly atOnce: number,
    private readonly mayWait = 0,
  ) {}

  /**
   * Does the work when its turn comes.
   *
   * @returns undefined, at once, when it is turned away: nothing was begun
   */
  pass<T>(work: () => Promise<T>): Promise<T> | undefined {
    if (this.#inside < this.atOnce) {
      this.#inside += 1;
      return this.#run(work);
    }
    if (this.#waiting.length >= this.mayWait) return undefined;
    // Whoever leaves hands over the place, so the count stays.
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() => this.#run(work));
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inside -= 1;
    }
  }
}
