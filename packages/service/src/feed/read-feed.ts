import { type EventFault, newEventInput, readFeed, type ShopEvent } from "@giftcard-pay/events";
import { eventRowOf } from "../store/events.js";
import type { FeedRow } from "../store/feed-changes.js";
import { FeedFailure } from "./feed-failure.js";

const MAX_EVENTS = 20_000;
/** Fifty for each event: what a parsed feed needs in memory comes from their number, not from its length. */
const MAX_VALUES = 50 * MAX_EVENTS;
/** Faults that are told; a feed that is wrong in one thing is so in each event. */
const MAX_FAULTS_TOLD = 100;

/**
 * Reads the feed that a shop has sent.
 *
 * @param providerIds the providers that there are; an event needs none, but may name one
 * @returns all of its events
 * @throws {FeedFailure} that names every fault by its place
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
    throw new FeedFailure(`holds more than ${MAX_VALUES} values: at most ${MAX_EVENTS} events are taken`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new FeedFailure(error instanceof SyntaxError ? "is not JSON, or broke off" : "is not UTF-8");
  }
  const { events } = (value ?? {}) as { events?: unknown };
  if (Array.isArray(events) && events.length > MAX_EVENTS)
    throw new FeedFailure(`has ${events.length} events: at most ${MAX_EVENTS} are taken`);
  return value;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const BEGINS_A_VALUE = new Set([..."[{,"].map((character) => character.charCodeAt(0)));

/** Counts what stands between commas and brackets: three bytes may be an object, which needs a hundred in memory. */
function countValues(bytes: Buffer): number {
  let count = 0;
  let isInString = false;
  for (let place = 0; place < bytes.length; place++) {
    const byte = bytes[place] as number;
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString && byte === BACKSLASH) place += 1;
    else if (!isInString && BEGINS_A_VALUE.has(byte)) count += 1;
  }
  return count;
}

function faulty(faults: readonly EventFault[]): FeedFailure {
  const told = faults.slice(0, MAX_FAULTS_TOLD).map(({ row, ...fault }) => ({ event: row, ...fault }));
  const lines = told.map(
    ({ event, field, message }) => `  event ${event}${field && `, ${field}`}: ${message}`,
  );
  if (told.length < faults.length) lines.push(`  and ${faults.length - told.length} more`);
  const what = `has ${faults.length} ${faults.length === 1 ? "fault" : "faults"}:\n${lines.join("\n")}`;
  return new FeedFailure(what, { details: { fault_count: faults.length, faults: told } });
}

/** Any, for an event that names no provider: the contract's codec wants one. */
const SOME_PROVIDER = 1;

function rowOf(event: ShopEvent): FeedRow {
  const { state, providerId } = event;
  const input = newEventInput({ ...event, providerId: providerId ?? SOME_PROVIDER });
  return {
    ...eventRowOf({ ...input, providerId }),
    taken_back: state === "canceled" || state === "withdrawn" ? state : null,
  };
}
