import type { EventState, ShopEvent } from "../event.js";

/** How a list of events is written. */
export interface EventFormat {
  /** For `Content-Type`. */
  readonly mediaType: string;
  readonly head: string;
  readonly between: string;
  readonly tail: string;
  /** Writes one event; undefined where the format leaves it out. */
  readonly write: (event: ShopEvent) => string | undefined;
}

/**
 * Writes a list, event by event: no more than one is held at a time, and the next is asked for when its text is taken.
 *
 * @param events a list, or what brings them as they are asked for
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

/** Leaves out events in other states. */
export const only =
  (states: readonly EventState[], write: (event: ShopEvent) => string) =>
  (event: ShopEvent): string | undefined =>
    states.includes(event.state) ? write(event) : undefined;
