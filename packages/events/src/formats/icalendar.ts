import { escape as escaped, ICalCalendar, ICalEventStatus } from "ical-generator";
import { tzlib_get_ical_block, tzlib_get_timezones } from "timezones-ical-library";
import { DEFAULT_TIME_ZONE, isTwiceOnClock, zoned } from "../clock.js";
import type { ShopEvent } from "../event.js";
import { locationOf } from "./feed.js";
import { type EventFormat, only } from "./format.js";

const LINE_END = "\r\n";
const MAX_LINE_BYTES = 75;

/** Options of a calendar. */
export interface CalendarOptions {
  /** The calendar's name. */
  readonly name: string;
  /** The time stamp of events without `updatedAt`: when the list was created. */
  readonly at: Date;
  /** Makes the keys globally unique, such as the shop's domain. Default: the host of each ticket link. */
  readonly domain?: string;
  /**
   * The zones that the calendar describes. Default: `Europe/Amsterdam`. An event in one of them has local times. Events in other
   * zones, and those in an hour that occurs twice, have times in UTC, since programs interpret such an hour differently.
   */
  readonly timeZones?: Iterable<string>;
}

/** A calendar to subscribe to (RFC 5545), with published events, and canceled ones marked as such. */
export function iCalendar({ name, at, domain, timeZones = [DEFAULT_TIME_ZONE] }: CalendarOptions): EventFormat {
  const calendar = new ICalCalendar({
    name: escaped(printable(name), false),
    prodId: "-//giftcard-pay//events//EN",
  });
  const end = "END:VCALENDAR";
  const described = describedZones(timeZones);
  const shared = { calendar, at, domain, zones: new Set(described.keys()) };
  return {
    mediaType: "text/calendar; charset=utf-8",
    head: [calendar.toString().slice(0, -end.length), ...described.values()].join(""),
    between: "",
    tail: `${end}${LINE_END}`,
    write: only(["published", "canceled"], (event) =>
      entryOf(event, shared).split(LINE_END).map(folded).join(LINE_END),
    ),
  };
}

/** Returns the zones that can be described, with their VTIMEZONE. UTC needs none. */
function describedZones(names: Iterable<string>): Map<string, string> {
  const known = new Set(tzlib_get_timezones());
  const described = [...new Set(names)].filter((name) => known.has(name) && name !== "UTC");
  return new Map(described.map((name) => [name, descriptionOf(name)]));
}

/** Returns a zone's VTIMEZONE. The library describes an alias under its target's name, so the name is replaced. */
function descriptionOf(name: string): string {
  const [block = ""] = tzlib_get_ical_block(name);
  return `${block.replaceAll(/^(TZID|X-LIC-LOCATION):.*$/gm, `$1:${name}`)}${LINE_END}`;
}

/** Folds a line. The library's own folding creates an encoder per character, which takes seconds for a long list. */
function folded(line: string): string {
  let text = "";
  let bytes = 0;
  for (const character of line) {
    const code = character.codePointAt(0) ?? 0;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes + size > MAX_LINE_BYTES) {
      text += `${LINE_END} `;
      bytes = 1;
    }
    text += character;
    bytes += size;
  }
  return text;
}

/** Removes control characters, which are invalid in a calendar. */
const printable = (text: string) => text.replaceAll(/(?![\t\r\n])\p{Cc}/gu, "");

/** Percent-encodes the characters that a calendar would escape, because programs take the escapes as part of the URL. */
const plainAddress = (url: string) =>
  new URL(url).href.replaceAll(/[,;\\]/g, (character) => encodeURIComponent(character));

interface Shared extends Pick<CalendarOptions, "at"> {
  readonly calendar: ICalCalendar;
  readonly domain: string | undefined;
  readonly zones: ReadonlySet<string>;
}

/** Writes an entry. The calendar keeps each entry that it creates, so it is cleared each time. */
function entryOf(event: ShopEvent, { calendar, at, domain, zones }: Shared): string {
  const { title, timeZone, description, ticketLink, eventLink, genres } = event;
  const changed = event.updatedAt ? new Date(event.updatedAt) : null;
  const location = locationOf(event);
  const entry = calendar.createEvent({
    id: `${encodeURIComponent(event.key)}@${domain ?? new URL(ticketLink).hostname}`,
    stamp: changed ?? at,
    lastModified: changed,
    timezone: zones.has(timeZone) && !isTwice(event) ? timeZone : null,
    start: zoned(event.start, timeZone),
    end: endOf(event),
    summary: printable(title),
    location: location ? printable(location) : null,
    description: printable([description, ticketLink].filter(Boolean).join("\n\n")),
    url: plainAddress(eventLink ?? ticketLink),
    status: event.state === "canceled" ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    categories: genres.map((genre) => ({ name: printable(genre) })).filter(({ name }) => name !== ""),
  });
  const text = entry.toString();
  calendar.clear();
  return text;
}

const isTwice = ({ start, end, timeZone }: ShopEvent) =>
  [start, end].some((time) => time?.includes("T") && isTwiceOnClock(time, timeZone));

/** Returns the end, or the end of the day if only the date is known. An end equal to the start is invalid in a calendar. */
function endOf({ start, end, timeZone }: ShopEvent) {
  if (end === undefined) return null;
  const at = zoned(end.includes("T") ? end : `${end}T23:59:59`, timeZone);
  return at.epochMilliseconds > zoned(start, timeZone).epochMilliseconds ? at : null;
}
