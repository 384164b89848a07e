import type { ReactiveControllerHost } from "lit";

/** The text of the live region, which screen readers announce. */
export class LiveRegion {
  text = "";

  constructor(private readonly host: ReactiveControllerHost) {}

  /** Announces a text. A repeated text gets a space, since screen readers ignore a region that did not change. */
  say(text: string): void {
    this.text = text === this.text ? `${text}\u00a0` : text;
    this.host.requestUpdate();
  }
}
