import type { ReactiveControllerHost } from "lit";

/** What a screen reader is to read aloud. */
export class LiveRegion {
  text = "";

  constructor(private readonly host: ReactiveControllerHost) {}

  /** Says a text. Said twice in a row, it is made to differ, or it wouldn't be read again. */
  say(text: string): void {
    this.text = text === this.text ? `${text}\u00a0` : text;
    this.host.requestUpdate();
  }
}
