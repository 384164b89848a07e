import type { ReactiveController, ReactiveControllerHost } from "lit";

/** A cart younger than this is not loaded again when the shopper returns to the page. */
const freshMs = 5000;

/** The events after which the page may show an old cart: it is from the back/forward cache, was hidden, or was offline. */
const returns = ["pageshow", "visibilitychange", "online"];

/** The time between two loads of a cart while a payment with one of its cards is settling. */
const settlingMs = 10_000;

/** Notices that a cart may have changed elsewhere: while the page was away, by another tag or tab, or by recovery. */
export class CartWatch implements ReactiveController {
  /** The time at which the cart was loaded. */
  loadedAt = 0;
  /** Its messages are the ids of carts that have changed. */
  #channel: BroadcastChannel | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param onChange called if the cart should be loaded again; with true if the browser is online again */
  constructor(
    private readonly host: ReactiveControllerHost & { readonly cart: string | null | undefined },
    private readonly isSettling: () => boolean,
    private readonly onChange: (isOnline: boolean) => void,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    // A capturing listener, since not every browser lets `visibilitychange` bubble to the window.
    for (const type of returns) addEventListener(type, this.#onReturn, true);
    this.#channel = new BroadcastChannel("giftcard-pay");
    this.#channel.onmessage = ({ data }) => {
      if (data === this.host.cart) this.onChange(false);
    };
    this.#timer = setInterval(() => this.isSettling() && this.onChange(false), settlingMs);
  }

  hostDisconnected(): void {
    for (const type of returns) removeEventListener(type, this.#onReturn, true);
    clearInterval(this.#timer);
    this.#channel?.close();
    this.#channel = undefined;
  }

  /** Tells other tags and tabs that this element has changed its cart. */
  tell(): void {
    this.#channel?.postMessage(this.host.cart);
  }

  readonly #onReturn = ({ type, persisted }: Event & { persisted?: boolean }): void => {
    const isOnline = type === "online";
    const isStale = !document.hidden && Date.now() - this.loadedAt > freshMs;
    if (isOnline || (persisted ?? isStale)) this.onChange(isOnline);
  };
}
