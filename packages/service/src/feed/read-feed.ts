import { type EventFault, newEventInput, readFeed, type ShopEvent } from "@giftcard-pay/events";
import { eventRowOf } from "../store/events.js";
import type { FeedRow } from "../store/feed-changes.js";
import { FeedFailure } from "./feed-failure.js";

const MAX_EVENTS = 20_000;
/** Fifty for each event. The memory of a parsed feed depends on the number of its values, not on its length. */
const MAX_VALUES = 50 * MAX_EVENTS;
/** Number of reported faults. A systematic fault repeats in each event. */
const MAX_REPORTED_FAULTS = 100;

/**
 * Reads the events of a feed.
 *
 * @param providerIds the existing providers. An event may name one, but needs none
 * @throws {FeedFailure} that lists the faults with their events and fields
 */
export function readFeedBytes(bytes: Buffer, providerIds: ReadonlySet<number>): FeedRow[] {
  const value = parse(bytes);
  const { entries, faults } = readFeed(value, {
    judge: (row, { eventprovider_id: id }) =>
      Number.isInteger(Number(id ?? Number.NaN)) && !providerIds.has(Number(id))
        ? [{ row, field: "eventprovider_id", message: "is not a provider of get_providers" }]
        : [],
  });
  if (faults.length > 0) throw faulty(faults);
  return entries.map(({ event }) => rowOf(event));
}

function parse(bytes: Buffer): unknown {
  if (countValues(bytes) > MAX_VALUES)
    throw new FeedFailure(`has more than ${MAX_VALUES} values. At most ${MAX_EVENTS} events are allowed`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new FeedFailure(error instanceof SyntaxError ? "is not JSON, or is incomplete" : "is not UTF-8");
  }
  const { events } = (value ?? {}) as { events?: unknown };
  if (Array.isArray(events) && events.length > MAX_EVENTS)
    throw new FeedFailure(`has ${events.length} events. At most ${MAX_EVENTS} are allowed`);
  return value;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const STARTS_VALUE = new Set([..."[{,"].map((character) => character.charCodeAt(0)));

/** Counts the values before parsing: an object of three bytes needs a hundred in memory. */
function countValues(bytes: Buffer): number {
  let count = 0;
  let isInString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString && byte === BACKSLASH) index += 1;
    else if (!isInString && STARTS_VALUE.has(byte)) count += 1;
  }
  return count;
}

function faulty(faults: readonly EventFault[]): FeedFailure {
  const reported = faults.slice(0, MAX_REPORTED_FAULTS).map(({ row, ...fault }) => ({ event: row, ...fault }));
  const lines = reported.map(({ event, field, message }) => `  event ${event}${field && `, ${field}`}: ${message}`);
  if (reported.length < faults.length) lines.push(`  and ${faults.length - reported.length} more`);
  const what = `has ${faults.length} ${faults.length === 1 ? "fault" : "faults"}:\n${lines.join("\n")}`;
  return new FeedFailure(what, { details: { fault_count: faults.length, faults: reported } });
}

/** A placeholder for events without a provider, which the contract's codec requires. */
const SOME_PROVIDER = 1;

function rowOf(event: ShopEvent): FeedRow {
  const { state, providerId } = event;
  const input = newEventInput({ ...event, providerId: providerId ?? SOME_PROVIDER });
  return {
    ...eventRowOf({ ...input, providerId }),
    taken_back: state === "canceled" || state === "withdrawn" ? state : null,
  };
}
