/** Ends a call on its timeout or its caller's signal, whichever comes first. */
export class Deadline {
  /** Why the call ended; undefined while it is running. */
  reason: "timeout" | "aborted" | undefined;
  readonly #controller = new AbortController();
  #reject: (error: Error) => void = () => {};
  readonly #ended = new Promise<never>((_, reject) => {
    this.#reject = reject;
  });
  readonly #endsAt: number;
  readonly #timer: ReturnType<typeof setTimeout>;

  /**
   * Starts the timeout of one call.
   *
   * @param callerSignal the caller's signal to abort
   */
  constructor(
    timeoutMs: number,
    private readonly callerSignal?: AbortSignal,
  ) {
    this.#ended.catch(() => {}); // unhandled if nothing is racing
    this.#endsAt = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => this.#stop("timeout"), timeoutMs);
    if (callerSignal?.aborted) this.#onAbort();
    else callerSignal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Passed to fetch, so that the connection closes too. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get remainingMs(): number {
    return this.#endsAt - performance.now();
  }

  /** Waits for work until the deadline, even if the work ignores the signal. */
  race<T>(work: Promise<T>): Promise<T> {
    work.catch(() => {}); // the work may fail after the race
    return Promise.race([work, this.#ended]);
  }

  async sleep(ms: number): Promise<void> {
    let wake: ReturnType<typeof setTimeout> | undefined;
    const elapsed = new Promise<void>((resolve) => {
      wake = setTimeout(resolve, ms);
    });
    await this.race(elapsed).finally(() => clearTimeout(wake));
  }

  /** Releases the timer and the listener. */
  end(): void {
    clearTimeout(this.#timer);
    this.callerSignal?.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#stop("aborted");

  #stop(why: NonNullable<Deadline["reason"]>): void {
    this.reason ??= why;
    this.#controller.abort();
    this.#reject(new Error(this.reason));
  }
}
