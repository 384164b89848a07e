import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Counts down the seconds of a wait, and renders its host every second. */
export class Countdown implements ReactiveController {
  #until = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** The length of the whole wait, in seconds. */
  total = 0;

  /** @param onTick called every second with the seconds left, and once with 0 at the end */
  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly onTick: (seconds: number) => void,
  ) {
    host.addController(this);
  }

  /** The seconds left; 0 without a wait. */
  get seconds(): number {
    return Math.max(0, Math.ceil((this.#until - Date.now()) / 1000));
  }

  start(seconds: number): void {
    this.total = seconds;
    this.#until = Date.now() + seconds * 1000;
    this.hostConnected();
  }

  /** Ends the wait without calling `onTick`. */
  stop(): void {
    this.#until = 0;
    this.hostDisconnected();
  }

  hostConnected(): void {
    clearInterval(this.#timer);
    if (this.#until > 0) this.#timer = setInterval(() => this.#tick(), 1000);
  }

  hostDisconnected(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const { seconds } = this;
    if (seconds === 0) this.stop();
    this.onTick(seconds);
    this.host.requestUpdate();
  }
}
