import type { ReactiveController, ReactiveControllerHost } from "lit";
import { CallError, type ShownError } from "./call-errors.js";
import { Countdown } from "./countdown.js";
import { type Action, type CardAction, dispatch } from "./events.js";

/** After this time the shopper is asked to be patient. */
const slowMs = 4000;

/** Callbacks of an element that waits. */
export interface Waiting {
  /** Called once if a response is slow. */
  slow(): void;
  /** Called every second of a wait after too many attempts, and with 0 at its end. */
  wait(secondsLeft: number): void;
}

/** The calls of an element, one at a time, and the error of the last one. */
export class Calls implements ReactiveController {
  error: ShownError | undefined;
  busy: CardAction | undefined;
  /** Whether the pending call is slow. */
  slow = false;
  /** The wait after too many attempts. */
  readonly wait: Countdown;
  /** Resolves once no call is pending. */
  settled: Promise<unknown> = Promise.resolve();

  #running = new AbortController();
  #errors = 0;

  constructor(
    private readonly host: ReactiveControllerHost & EventTarget,
    private readonly waiting: Waiting,
  ) {
    host.addController(this);
    this.wait = new Countdown(host, (seconds) => {
      if (seconds === 0 && this.error?.code === "too_many_attempts") this.error = undefined;
      waiting.wait(seconds);
    });
  }

  /** Whether a call may be made: none is pending, and there is no wait. */
  get isFree(): boolean {
    return !this.busy && this.wait.seconds === 0;
  }

  hostDisconnected(): void {
    this.#running.abort();
    this.busy = undefined;
  }

  /** Drops the pending call, the wait and the error. */
  reset(): void {
    this.hostDisconnected();
    this.settled = Promise.resolve();
    this.wait.stop();
    this.error = undefined;
  }

  /**
   * Makes a call, unless one is pending. It ignores the response if the element is reset or removed meanwhile.
   * @returns undefined if the call failed; {@link error} says why
   */
  async run<Answer>(action: CardAction, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer | undefined> {
    if (this.busy) return undefined;
    this.busy = action;
    const { signal } = (this.#running = new AbortController());
    this.host.requestUpdate();
    const timer = setTimeout(() => {
      this.slow = true;
      this.waiting.slow();
    }, slowMs);
    const work = call(signal);
    this.settled = work.catch(() => undefined);
    try {
      const answer = await work;
      if (signal.aborted) return undefined;
      this.busy = this.error = undefined;
      return answer;
    } catch (error) {
      if (signal.aborted) return undefined;
      this.busy = undefined;
      this.fail(action, error);
      return undefined;
    } finally {
      clearTimeout(timer);
      this.slow = false;
      this.host.requestUpdate();
    }
  }

  /** Shows and dispatches a {@link CallError}. Rethrows anything else. */
  fail(action: Action, error: unknown): void {
    if (!(error instanceof CallError)) throw error;
    const { code, retryAfterSeconds, status } = error;
    this.show(action, code);
    if (retryAfterSeconds) this.wait.start(retryAfterSeconds);
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
}
