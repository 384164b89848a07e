import { foldLines, ICalCalendar, ICalEventStatus } from "ical-generator";
import { instantOf } from "../clock.js";
import type { ShopEvent } from "../event.js";
import { locationOf } from "./feed.js";
import { type EventFormat, unlessDraft } from "./format.js";

const LINE_END = "\r\n";
const MAX_LINE_BYTES = 75;
const encoder = new TextEncoder();

/** What a calendar needs besides its events. */
export interface CalendarOptions {
  /** What calendar programs call it. */
  readonly name: string;
  /** When an event changed that doesn't say so itself. */
  readonly at: Date;
}

/**
 * A calendar to subscribe to (RFC 5545). Times are in UTC, so that every program shows the right hour; what is cancelled
 * is said to be.
 */
export function iCalendar({ name, at }: CalendarOptions): EventFormat {
  const calendar = new ICalCalendar({ name, prodId: "-//giftcard-pay//events//EN" });
  const end = "END:VCALENDAR";
  return {
    mediaType: "text/calendar; charset=utf-8",
    head: calendar.toString().slice(0, -end.length),
    between: "",
    tail: end,
    write: unlessDraft((event) => entryOf(calendar, event, at).split(LINE_END).map(folded).join(LINE_END)),
  };
}

/** Looks at each character only where a line is too long, since that takes most of the time. */
const folded = (line: string) => (encoder.encode(line).length > MAX_LINE_BYTES ? foldLines(line) : line);

/** The calendar keeps every entry that is made in it, so it is emptied again. */
function entryOf(calendar: ICalCalendar, event: ShopEvent, at: Date): string {
  const { title, timeZone, description, ticketLink, eventLink, genres } = event;
  const stamp = event.updatedAt ? new Date(event.updatedAt) : at;
  const location = locationOf(event);
  const entry = calendar.createEvent({
    id: `${event.key}@${new URL(ticketLink).hostname}`,
    stamp,
    lastModified: stamp,
    start: instantOf(event.start, timeZone),
    end: endOf(event),
    summary: title,
    location: location || null,
    description: [description, ticketLink].filter(Boolean).join("\n\n"),
    url: eventLink ?? ticketLink,
    status: event.state === "cancelled" ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    categories: genres.map((genre) => ({ name: genre })),
  });
  const text = entry.toString();
  calendar.clear();
  return text;
}

function endOf({ end, timeZone }: ShopEvent): Date | null {
  if (end === undefined) return null;
  return instantOf(end.includes("T") ? end : `${end}T23:59:59`, timeZone);
}
