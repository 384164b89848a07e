import type { ReactiveController, ReactiveControllerHost } from "lit";
import { CallError, type ShownError } from "./call-errors.js";
import { type Action, type CardAction, dispatch } from "./events.js";

/** After this time the shopper is asked to be patient. */
const slowMs = 4000;

/** The calls of an element, one at a time, the error of the last one, and the wait after too many attempts. */
export class Calls implements ReactiveController {
  error: ShownError | undefined;
  busy: CardAction | undefined;
  /** Whether the pending call is slow. */
  slow = false;
  /** The wait as shown, in seconds. It doesn't count down: a screen reader would read each of them. */
  waitSeconds = 0;
  /** Resolves once no call is pending. */
  settled: Promise<unknown> = Promise.resolve();

  #running = new AbortController();
  #errors = 0;
  #waitUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param announce called if a response is slow, and with true at the end of a wait */
  constructor(
    private readonly host: ReactiveControllerHost & EventTarget,
    private readonly announce: (isWaitOver: boolean) => void,
  ) {
    host.addController(this);
  }

  /** The seconds of the wait that are left; 0 without a wait. */
  get secondsLeft(): number {
    return Math.max(0, Math.ceil((this.#waitUntil - Date.now()) / 1000));
  }

  /** Returns whether a call may be made: none is pending, and there is no wait. A wait is shown, with what is left of it. */
  mayCall(action: CardAction): boolean {
    const { busy, secondsLeft } = this;
    if (secondsLeft) {
      this.waitSeconds = secondsLeft;
      this.show(action, "too_many_attempts");
    }
    return !busy && !secondsLeft;
  }

  hostConnected(): void {
    this.hostDisconnected();
    if (this.#waitUntil) this.#timer = setTimeout(this.#endWait, this.#waitUntil - Date.now());
  }

  /** Stops the clock. A pending call goes on: the shop may have done it already, and the page is to hear of it. */
  hostDisconnected(): void {
    clearTimeout(this.#timer);
  }

  /** Drops the pending call. Its response is ignored. */
  stop(): void {
    this.#running.abort();
    this.busy = undefined;
    this.slow = false;
    this.settled = Promise.resolve();
    this.host.requestUpdate();
  }

  /** Drops the pending call, the wait and the error. */
  reset(): void {
    this.stop();
    this.#waitUntil = 0;
    this.error = undefined;
  }

  /**
   * Makes a call, unless one is pending.
   * @returns undefined if the call failed, with {@link error} saying why, or if it was dropped
   */
  async run<Answer>(action: CardAction, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer | undefined> {
    if (this.busy) return undefined;
    this.busy = action;
    const { signal } = (this.#running = new AbortController());
    this.host.requestUpdate();
    const timer = setTimeout(() => {
      if (signal.aborted) return;
      this.slow = true;
      this.announce(false);
    }, slowMs);
    let failure: unknown;
    const work = call(signal).catch((error) => {
      failure = error;
      return undefined;
    });
    this.settled = work;
    const answer = await work;
    clearTimeout(timer);
    if (signal.aborted) return undefined;
    this.stop();
    this.error = undefined;
    if (failure) this.fail(action, failure);
    return answer;
  }

  /** Shows and dispatches a {@link CallError}. Rethrows anything else. */
  fail(action: Action, error: unknown): void {
    if (!(error instanceof CallError)) throw error;
    const { code, retryAfterSeconds, status } = error;
    this.show(action, code);
    if (retryAfterSeconds) {
      this.waitSeconds = retryAfterSeconds;
      this.#waitUntil = Date.now() + retryAfterSeconds * 1000;
      this.hostConnected();
    }
    dispatch(this.host, "giftcard-error", {
      code,
      action,
      ...(retryAfterSeconds && { retryAfterSeconds }),
      ...(status && { status }),
    });
  }

  /** Shows an error, with a reason that replaces its text. Unlike {@link fail}, it dispatches no event. */
  show(action: Action, code: ShownError["code"], reason = ""): void {
    this.error = { code, action, reason, count: ++this.#errors };
    this.host.requestUpdate();
  }

  readonly #endWait = (): void => {
    this.#waitUntil = 0;
    if (this.error?.code === "too_many_attempts") this.error = undefined;
    this.announce(true);
  };
}
