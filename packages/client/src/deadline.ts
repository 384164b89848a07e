/** Ends a call on its timeout or its caller's signal, whichever comes first. */
export interface Deadline {
  /** Passed to fetch, so that the connection closes too. */
  readonly signal: AbortSignal;
  /** Why the call ended; undefined while it is running. */
  readonly reason: "timeout" | "aborted" | undefined;
  readonly remainingMs: number;
  /** Waits for work until the deadline, even if the work ignores the signal. */
  race<T>(work: Promise<T>): Promise<T>;
  sleep(ms: number): Promise<void>;
  /** Stops the timeout until `renew`. The caller's signal still ends the call. */
  pause(): void;
  /** Restarts the timeout. */
  renew(): void;
  /** Releases the timer and the listener. */
  end(): void;
}

/**
 * Starts the timeout of one call.
 *
 * @param signal the caller's signal to abort
 */
export function startDeadline(timeoutMs: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  let endsAt = performance.now() + timeoutMs;
  let reason: Deadline["reason"];
  let reject: (error: Error) => void;
  const ended = new Promise<never>((_, no) => {
    reject = no;
  });
  ended.catch(() => {}); // unhandled if nothing is racing
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
    work.catch(() => {}); // the work may fail after the race
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
