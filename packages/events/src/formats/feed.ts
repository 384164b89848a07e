import type { Event as ListedEvent } from "@giftcard-pay/client/contract";
import { checkRows, fault, type Reading, type ReadOptions, renamed, type UncheckedRow } from "../check.js";
import type { EventState, ShopEvent } from "../event.js";
import { filled, type RowField, rowFields, rowOf } from "../row.js";
import { type EventFormat, only } from "./format.js";
import { objectsOf } from "./json.js";

/** Where the listing of `getallevents` has a name of its own, a feed has it too. */
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
const addressFields = ["building_name", "streetname", "streetnumber", "zipcode", "city", "country"] as const;

/** An event's place on one line, as the service's listing has it. */
export function locationOf({ venue }: Pick<ShopEvent, "venue">): string {
  const { name, streetName, streetNumber, zipCode, city, country } = venue;
  const together = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(" ");
  return [name, together(streetName, streetNumber), together(zipCode, city), country]
    .filter(Boolean)
    .join(", ");
}

/** Writes one event of a feed. */
export function feedItemOf(event: ShopEvent): Record<string, string | number> {
  const { activated: _activated, ...row } = rowOf(event);
  const item = Object.entries(row).map(([field, value]) => [nameOf(field), value]);
  return filled({ ...Object.fromEntries(item), location: locationOf(event), state: event.state });
}

/** An event's state in a feed; a draft stands in none. */
const feedStates = ["published", "canceled", "withdrawn"] as const satisfies readonly EventState[];

/**
 * The feed that issuers fetch: `{ "events": [...] }` with what is published, and what is taken back as
 * `"state": "canceled"` or `"withdrawn"`. `readFeed` reads it again.
 */
export const feed: EventFormat = {
  mediaType: "application/json",
  head: '{"events":[\n',
  between: ",\n",
  tail: "\n]}\n",
  write: only(feedStates, (event) => JSON.stringify(feedItemOf(event))),
};

/**
 * Reads a parsed feed, ours or another's, and checks it as strictly as any other way in. Of another's, fields that it
 * doesn't know are left alone, a bare `location` is the venue's name, and no `state` is `published`.
 *
 * @returns the events, and every fault by the feed's names; the first event is row 1
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
  const found = read.faults.map((one) =>
    one.field === "building_name" && bare.has(one.row) ? { ...one, field: "location" } : one,
  );
  return {
    entries: read.entries.filter(({ row }) => !wrong.has(row)),
    faults: renamed([...faults, ...states, ...found], nameOf),
  };
}

/** Others write "cancelled" too. */
const stateOf = (state: unknown = "published") =>
  feedStates.find((one) => one === (state === "cancelled" ? "canceled" : state));

const hasAddress = (values: UncheckedRow["values"]) => addressFields.some((field) => values[field]);

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
 * Reads what `listEvents` answers. The service knows these events by its own numbers, which are their keys here, and doesn't
 * say which are drafts: all are `published`.
 *
 * @returns the events, and faults where the listing holds what no event can have
 */
export function readListing(listed: readonly ListedEvent[]): Reading {
  const events = listed.map((one) => ({
    event_id: String(one.id),
    title: one.title,
    description: one.description,
    organiser: one.organiser,
    date: one.date,
    time: one.time,
    end_date: one.endDate,
    end_time: one.endTime,
    location: one.location,
    poster: one.posterUrl,
    bannerpath: one.bannerUrl,
    ticket_link: one.ticketLink,
  }));
  return readFeed({ events });
}
