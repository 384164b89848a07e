import type { ReactiveController, ReactiveControllerHost } from "lit";
import { CallError, type ShownError } from "./call-errors.js";
import { Countdown } from "./countdown.js";
import { type Action, type CardAction, dispatch } from "./events.js";

/** From when on an answer counts as slow, and the shopper is told to be patient. */
const slowMs = 4000;

/** What an element hears while it waits. */
export interface Waiting {
  /** An answer takes long. */
  slow(): void;
  /** Each second of a wait after too many attempts; 0 when it has passed. */
  wait(secondsLeft: number): void;
}

/** An element's calls, one at a time, and what went wrong with the last. */
export class Calls implements ReactiveController {
  error: ShownError | undefined;
  busy: CardAction | undefined;
  /** The call under way takes long. */
  slow = false;
  /** The wait after too many attempts. */
  readonly wait: Countdown;
  /** Passes when no call is under way. */
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

  /** Whether a call can be made: none is under way, and no wait. */
  get isFree(): boolean {
    return !this.busy && this.wait.seconds === 0;
  }

  hostDisconnected(): void {
    this.#running.abort();
    this.busy = undefined;
  }

  /** Drops the call under way, the wait and the error. Nothing waits for the answer any more. */
  reset(): void {
    this.hostDisconnected();
    this.settled = Promise.resolve();
    this.wait.stop();
    this.error = undefined;
  }

  /**
   * Makes a call, unless one is under way. The answer is dropped if the element was reset or taken off the page.
   * @returns undefined if there is no answer; {@link error} says why
   */
  async run<Answer>(
    action: CardAction,
    call: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer | undefined> {
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

  /** Shows an error and dispatches it; anything that is no {@link CallError} is thrown on. */
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

  /** Shows an error, also one that isn't a call's. */
  show(action: Action, code: ShownError["code"]): void {
    this.error = { code, action, count: ++this.#errors };
    this.host.requestUpdate();
  }
}
