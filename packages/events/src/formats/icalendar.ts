import { escape as escaped, ICalCalendar, ICalEventStatus } from "ical-generator";
import { tzlib_get_ical_block, tzlib_get_timezones } from "timezones-ical-library";
import { DEFAULT_TIME_ZONE, isTwiceOnClock, zoned } from "../clock.js";
import type { ShopEvent } from "../event.js";
import { locationOf } from "./feed.js";
import { foldLine } from "./fold.js";
import { type EventFormat, only } from "./format.js";

const LINE_END = "\r\n";

/** What a calendar needs besides its events. */
export interface CalendarOptions {
  /** What calendar programs call it. */
  readonly name: string;
  /** When the list was made: the time stamp of an event that doesn't say when it changed. */
  readonly at: Date;
  /** What makes the keys unique in the world, such as the shop's domain; by default the host of each ticket link. */
  readonly domain?: string;
  /**
   * The zones that the calendar describes; `Europe/Amsterdam` by default. The times of an event in one of them are its
   * clock's. Those of any other are in UTC, and so are those in an hour that comes twice, as programs differ about it.
   */
  readonly timeZones?: Iterable<string>;
}

/** A calendar to subscribe to (RFC 5545): what is published, and what is canceled is said to be. */
export function iCalendar({
  name,
  at,
  domain,
  timeZones = [DEFAULT_TIME_ZONE],
}: CalendarOptions): EventFormat {
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
      entryOf(event, shared).split(LINE_END).map(foldLine).join(LINE_END),
    ),
  };
}

/** The zones that can be described, with their VTIMEZONE. One that is UTC needs none. */
function describedZones(names: Iterable<string>): Map<string, string> {
  const known = new Set(tzlib_get_timezones());
  const described = [...new Set(names)].filter((name) => known.has(name) && name !== "UTC");
  return new Map(described.map((name) => [name, descriptionOf(name)]));
}

/** A zone that has another's rules is described under that one's name. */
function descriptionOf(name: string): string {
  const [block = ""] = tzlib_get_ical_block(name);
  return `${block.replaceAll(/^(TZID|X-LIC-LOCATION):.*$/gm, `$1:${name}`)}${LINE_END}`;
}

/** Without control characters, which a calendar can't hold. */
const printable = (text: string) => text.replaceAll(/(?![\t\r\n])\p{Cc}/gu, "");

/** An address without what a calendar would escape, which programs read as a part of it. */
const plainAddress = (url: string) =>
  new URL(url).href.replaceAll(/[,;\\]/g, (character) => encodeURIComponent(character));

interface Shared extends Pick<CalendarOptions, "at"> {
  readonly calendar: ICalCalendar;
  readonly domain: string | undefined;
  readonly zones: ReadonlySet<string>;
}

/** The calendar keeps every entry that is made in it, so it is emptied again. */
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

/** Where the hour isn't known, the end of its day. A calendar has no end that is the start. */
function endOf({ start, end, timeZone }: ShopEvent) {
  if (end === undefined) return null;
  const at = zoned(end.includes("T") ? end : `${end}T23:59:59`, timeZone);
  return at.epochMilliseconds > zoned(start, timeZone).epochMilliseconds ? at : null;
}
