import { endpoints, type Event as ListedEvent } from "@giftcard-pay/client/contract";
import * as z from "zod";
import { checkRows, fault, type Reading, type ReadOptions, renamed, type UncheckedRow } from "../check.js";
import type { EventState, ShopEvent } from "../event.js";
import { filled, type RowField, rowFields, rowOf, venueFields } from "../row.js";
import { type EventFormat, only } from "./format.js";
import { objectsOf } from "./json.js";

/** The fields that have another name in `getallevents`. A feed uses those names. */
const feedNames = {
  event_key: "event_id",
  event_name: "title",
  event_introductiontext: "description",
  event_organiser: "organiser",
  event_start_date: "date",
  event_start_time: "time",
  event_end_date: "end_date",
  event_end_time: "end_time",
  poster_url: "poster",
  banner_url: "bannerpath",
} as const satisfies Partial<Record<RowField, string>>;

const nameOf = (field: string): string => feedNames[field as keyof typeof feedNames] ?? field;

const rowFieldOf = new Map(rowFields.map((field) => [nameOf(field), field]));

/** Returns an event's place as one line, as the service lists it. */
export function locationOf({ venue }: Pick<ShopEvent, "venue">): string {
  const { name, streetName, streetNumber, zipCode, city, country } = venue;
  const together = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(" ");
  return [name, together(streetName, streetNumber), together(zipCode, city), country].filter(Boolean).join(", ");
}

/** Converts an event to an item of a feed. */
export function feedItemOf(event: ShopEvent): Record<string, string | number> {
  const { activated: _activated, ...row } = rowOf(event);
  const item = Object.entries(row).map(([field, value]) => [nameOf(field), value]);
  return filled({ ...Object.fromEntries(item), location: locationOf(event), state: event.state });
}

/** The states in a feed, which contains no drafts. */
const feedStates = ["published", "canceled", "withdrawn"] as const satisfies readonly EventState[];

/**
 * The feed that issuers fetch: `{ "events": [...] }` with all published events, and the retracted ones with
 * `"state": "canceled"` or `"withdrawn"`. `readFeed` reads it.
 */
export const feed: EventFormat = {
  mediaType: "application/json",
  head: '{"events":[\n',
  between: ",\n",
  tail: "\n]}\n",
  write: only(feedStates, (event) => JSON.stringify(feedItemOf(event))),
};

/**
 * Reads a parsed feed, and validates it as strictly as other formats. In feeds of other software, it ignores unknown fields,
 * takes a bare `location` as the venue's name, and treats a missing `state` as `published`.
 *
 * @returns the events, and all faults by the feed's names; the first event is row 1
 */
export function readFeed(value: unknown, options: Omit<ReadOptions, "keyOf"> = {}): Reading {
  const events = typeof value === "object" && value !== null && "events" in value ? value.events : undefined;
  if (!Array.isArray(events))
    return { entries: [], faults: [fault(1, "events", 'must be an array: a feed is { "events": [...] }')] };
  const { rows, faults } = objectsOf(events);
  const states = rows.flatMap(({ row, values: { state } }) =>
    stateOf(state) ? [] : [fault(row, "state", `must be one of ${feedStates.join(", ")}`)],
  );
  const read = checkRows(rows.map(rowOfItem), options);
  const wrong = new Set(states.map(({ row }) => row));
  const bare = new Set(rows.flatMap(({ row, values }) => (hasAddress(values) ? [] : [row])));
  const found = read.faults.map((each) =>
    each.field === "building_name" && bare.has(each.row) ? { ...each, field: "location" } : each,
  );
  return {
    ...read,
    entries: read.entries.filter(({ row }) => !wrong.has(row)),
    faults: renamed([...faults, ...states, ...found], nameOf),
  };
}

/** Accepts the spelling "cancelled" too. */
const stateOf = (state: unknown = "published") =>
  feedStates.find((known) => known === (state === "cancelled" ? "canceled" : state));

const hasAddress = (values: UncheckedRow["values"]) => Object.values(venueFields).some((field) => values[field]);

function rowOfItem({ row, values }: UncheckedRow): UncheckedRow {
  const known = Object.entries(values).flatMap(([name, value]) => {
    const field = rowFieldOf.get(name);
    return field === undefined ? [] : [[field, value] as const];
  });
  return {
    row,
    values: {
      ...Object.fromEntries(known),
      ...(!hasAddress(values) && { building_name: values.location }),
      activated: undefined,
      state: stateOf(values.state),
    },
  };
}

/**
 * Converts the result of `listEvents`. The list has the service's ids, which become the keys. It doesn't mark drafts, so all
 * events are `published`. Its update times are the service's own, and are ignored.
 *
 * @returns the events, and the faults of those that aren't valid
 */
export function readListing(listed: readonly ListedEvent[]): Reading {
  const { element } = endpoints.listEvents.response.def;
  return readFeed({
    events: listed.map((event) => ({ ...z.encode(element, event), event_id: String(event.id), updated_at: undefined })),
  });
}
