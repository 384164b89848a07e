import type { ReactiveController, ReactiveControllerHost } from "lit";

/** A cart younger than this is not loaded again when the shopper returns to the page. */
const freshMs = 5000;

/** The events after which the page may show an old cart: it is from the back/forward cache, was hidden, or was offline. */
const returns = ["pageshow", "visibilitychange", "online"];

/** The time between two loads of a cart while a payment with one of its cards is settling. */
const settlingMs = 10_000;

/** Notices that a cart may have changed elsewhere: while the page was away, or by recovery. */
export class CartWatch implements ReactiveController {
  /** The time at which the cart was loaded. */
  loadedAt = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param onChange called if the cart should be loaded again; with true if the browser is online again */
  constructor(
    host: ReactiveControllerHost,
    private readonly cards: { readonly isSettling: boolean },
    private readonly onChange: (isOnline: boolean) => void,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    // A capturing listener, since not every browser lets `visibilitychange` bubble to the window.
    for (const type of returns) addEventListener(type, this.#onReturn, true);
    this.#timer = setInterval(() => this.cards.isSettling && this.onChange(false), settlingMs);
  }

  hostDisconnected(): void {
    for (const type of returns) removeEventListener(type, this.#onReturn, true);
    clearInterval(this.#timer);
  }

  readonly #onReturn = ({ type, persisted }: Event & { persisted?: boolean }): void => {
    const isOnline = type === "online";
    const isStale = !document.hidden && Date.now() - this.loadedAt > freshMs;
    if (isOnline || (persisted ?? isStale)) this.onChange(isOnline);
  };
}
