/** The end of a call: its time-out or its caller's signal, whichever comes first. */
export interface Deadline {
  /** For fetch, so that the connection ends too. */
  readonly signal: AbortSignal;
  /** What ended the call; undefined while it may go on. */
  readonly reason: "timeout" | "aborted" | undefined;
  readonly remainingMs: number;
  /** Waits for work no longer than the deadline, also where the work doesn't heed the signal. */
  race<T>(work: Promise<T>): Promise<T>;
  sleep(ms: number): Promise<void>;
  /** Stops the time-out, until `renew`. The caller's signal still ends the call. */
  pause(): void;
  /** Begins the time-out anew. */
  renew(): void;
  /** Frees the timer and the listener. */
  end(): void;
}

/**
 * Starts the clock of one call.
 *
 * @param timeoutMs the longest that the call takes
 * @param signal the caller's own end
 */
export function startDeadline(timeoutMs: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  let endsAt = performance.now() + timeoutMs;
  let reason: Deadline["reason"];
  let reject: (error: Error) => void;
  const ended = new Promise<never>((_, no) => {
    reject = no;
  });
  ended.catch(() => {}); // heard by whoever races; otherwise nobody needs it
  const stop = (why: NonNullable<Deadline["reason"]>) => {
    reason ??= why;
    controller.abort();
    reject(new Error(reason));
  };
  const onAbort = () => stop("aborted");
  let timer = setTimeout(() => stop("timeout"), timeoutMs);
  const pause = () => clearTimeout(timer);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });

  const race = <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => {}); // it may fail long after the race is over
    return Promise.race([work, ended]);
  };
  return {
    signal: controller.signal,
    get reason() {
      return reason;
    },
    get remainingMs() {
      return endsAt - performance.now();
    },
    race,
    async sleep(ms) {
      let wake: ReturnType<typeof setTimeout> | undefined;
      try {
        await race(
          new Promise<void>((resolve) => {
            wake = setTimeout(resolve, ms);
          }),
        );
      } finally {
        clearTimeout(wake);
      }
    },
    pause,
    renew() {
      pause();
      endsAt = performance.now() + timeoutMs;
      timer = setTimeout(() => stop("timeout"), timeoutMs);
    },
    end() {
      pause();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
