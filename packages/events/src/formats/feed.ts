import { endpoints, type Event as ListedEvent } from "@giftcard-pay/client/contract";
import * as z from "zod";
import { checkRows, type Reading, renamed } from "../check.js";
import type { ShopEvent } from "../event.js";
import { filled, type RowField, rowOf } from "../row.js";
import { type EventFormat, only } from "./format.js";

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

/**
 * The feed for other software: `{ "events": [...] }` with all published events, and the retracted ones with
 * `"state": "canceled"` or `"withdrawn"`.
 */
export const feed: EventFormat = {
  mediaType: "application/json",
  head: '{"events":[\n',
  between: ",\n",
  tail: "\n]}\n",
  write: only(["published", "canceled", "withdrawn"], (event) => JSON.stringify(feedItemOf(event))),
};

/** The fields of a listed event, by the names of a row. The list has the whole place in one field. */
const listedNames: Readonly<Record<string, string>> = {
  ...feedNames,
  building_name: "location",
  ticket_link: "ticket_link",
};

/**
 * Converts the result of `listEvents`. The list has the service's ids, which become the keys. It doesn't mark drafts, so all
 * events are `published`. Its update times are the service's own, and are ignored.
 *
 * @returns the events, and the faults of those that aren't valid, by the list's names
 */
export function readListing(listed: readonly ListedEvent[]): Reading {
  const { element } = endpoints.listEvents.response.def;
  const rows = listed.map((event, index) => {
    const item: Record<string, unknown> = { ...z.encode(element, event), event_id: String(event.id) };
    const values = Object.entries(listedNames).map(([field, name]) => [field, item[name]]);
    return { row: index + 1, values: { ...Object.fromEntries(values), state: "published" } };
  });
  const { entries, faults } = checkRows(rows);
  return { entries, faults: renamed(faults, (field) => listedNames[field] ?? field) };
}
