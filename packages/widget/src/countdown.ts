import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Counts a wait down in seconds, and renders its host each second meanwhile. */
export class Countdown implements ReactiveController {
  #until = 0;
  #total = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly onEnd: () => void,
  ) {
    host.addController(this);
  }

  /** Seconds left; 0 when there is no wait. */
  get seconds(): number {
    return Math.max(0, Math.ceil((this.#until - Date.now()) / 1000));
  }

  /** The whole wait, in seconds. */
  get total(): number {
    return this.#total;
  }

  start(seconds: number): void {
    this.#total = seconds;
    this.#until = Date.now() + seconds * 1000;
    this.hostConnected();
  }

  /** Ends the wait without calling back. */
  stop(): void {
    this.#until = 0;
    this.hostDisconnected();
  }

  hostConnected(): void {
    if (this.#until === 0) return;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tick(), 1000);
  }

  hostDisconnected(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    if (this.seconds === 0) {
      this.stop();
      this.onEnd();
    }
    this.host.requestUpdate();
  }
}
