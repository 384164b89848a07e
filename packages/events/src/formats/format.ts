import type { EventState, ShopEvent } from "../event.js";

/** A format for a list of events. */
export interface EventFormat {
  /** The value of `Content-Type`. */
  readonly mediaType: string;
  readonly head: string;
  readonly between: string;
  readonly tail: string;
  /** Writes one event; returns undefined if the format omits the event. */
  readonly write: (event: ShopEvent) => string | undefined;
}

/**
 * Writes a list of events lazily: it holds one event at a time, and requests the next when its text is consumed.
 *
 * @param events a list, or an iterable that yields events on demand
 */
export async function* writeEvents(
  events: Iterable<ShopEvent> | AsyncIterable<ShopEvent>,
  { head, between, tail, write }: EventFormat,
): AsyncGenerator<string, void, undefined> {
  let before = head;
  for await (const event of events) {
    const text = write(event);
    if (text === undefined) continue;
    yield before + text;
    before = between;
  }
  yield before === head ? head + tail : tail;
}

/** Omits events in other states. */
export const only =
  (states: readonly EventState[], write: (event: ShopEvent) => string) =>
  (event: ShopEvent): string | undefined =>
    states.includes(event.state) ? write(event) : undefined;
