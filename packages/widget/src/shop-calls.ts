import type { ReactiveController, ReactiveControllerHost } from "lit";
import { Countdown } from "./countdown.js";
import { type Action, type CardAction, GiftcardEvent, type GiftcardEventMap } from "./events.js";
import type { Fault } from "./faults.js";
import { type ShopAddress, ShopApi, ShopFault } from "./shop-api.js";

/** From when on an answer counts as slow, and the shopper is told to be patient. */
const slowMs = 4000;

/** What an element hears while it waits. */
export interface Waiting {
  /** An answer takes long. */
  slow(): void;
  /** Each second of a wait after too many attempts; 0 when it has passed. */
  wait(secondsLeft: number): void;
}

/** An element's calls, one at a time, and what went wrong with the last. It dispatches the events. */
export class ShopCalls implements ReactiveController {
  fault: Fault | undefined;
  busy: CardAction | undefined;
  /** The call under way takes long. */
  slow = false;
  /** The wait after too many attempts. */
  readonly wait: Countdown;
  /** Passes when no call is under way. */
  settled: Promise<unknown> = Promise.resolve();

  #running = new AbortController();
  #faults = 0;

  /** @param address where to call; asked anew for each call */
  constructor(
    protected readonly host: ReactiveControllerHost & EventTarget,
    private readonly address: () => ShopAddress,
    private readonly waiting: Waiting,
  ) {
    host.addController(this);
    this.wait = new Countdown(host, (seconds) => {
      if (seconds === 0 && this.fault?.code === "too_many_attempts") this.fault = undefined;
      waiting.wait(seconds);
    });
  }

  hostDisconnected(): void {
    this.#running.abort();
    this.busy = undefined;
  }

  /** Runs one change at a time. An answer for a cart that is no longer shown is dropped. */
  async perform<Answer>(
    action: CardAction,
    call: (api: ShopApi, signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    if (this.busy) return undefined;
    this.busy = action;
    const { signal } = (this.#running = new AbortController());
    this.host.requestUpdate();
    const timer = setTimeout(() => {
      this.slow = true;
      this.waiting.slow();
    }, slowMs);
    const work = call(this.api, signal);
    this.settled = work.catch(() => undefined);
    try {
      const answer = await work;
      if (signal.aborted) return undefined;
      this.busy = this.fault = undefined;
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

  /** Notes a fault and dispatches it; anything that is no {@link ShopFault} is thrown on. */
  fail(action: Action, error: unknown): void {
    if (!(error instanceof ShopFault)) throw error;
    const { code, retryAfterSeconds } = error;
    this.note(action, code);
    if (retryAfterSeconds) this.wait.start(retryAfterSeconds);
    this.tell("giftcard-pay:error", { code, action, ...(retryAfterSeconds && { retryAfterSeconds }) });
  }

  /** Shows a fault that isn't one of a call. */
  note(action: Action, code: Fault["code"]): void {
    this.fault = { code, action, count: ++this.#faults };
    this.host.requestUpdate();
  }

  /** Dispatches an event. Returns false if the page cancelled it. */
  tell<Type extends keyof GiftcardEventMap>(type: Type, detail: GiftcardEventMap[Type]["detail"]): boolean {
    return this.host.dispatchEvent(new GiftcardEvent(type, detail));
  }

  protected get api(): ShopApi {
    return new ShopApi(this.address());
  }
}
