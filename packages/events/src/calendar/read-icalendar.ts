import {
  checkRows,
  type EventFault,
  type FileReading,
  fault,
  inOrder,
  quoting,
  type Reading,
  type ReadOptions,
  type UncheckedRow,
} from "../check.js";
import { DEFAULT_TIME_ZONE, isTimeZone } from "../clock.js";
import { type Component, isFault, partsOf, propertiesOf, textOf } from "./components.js";
import { isRepeating, type Occurrence, OccurrenceReader } from "./occurrences.js";
import { StepBudget } from "./recurrence.js";
import { timesOf, Unreadable, Zones } from "./times.js";

/** Options for reading a calendar. */
export interface CalendarReadOptions extends ReadOptions {
  /** Earlier dates are omitted. Default: now. */
  readonly from?: Date;
  /** Later dates of repeating events are omitted. Default: two years after `from`. */
  readonly until?: Date;
}

const MAX_EVENTS = 20_000;
const MAX_STEPS = 20_000_000;
const GENRE_WITH_COMMA = "must not contain a comma, which separates values in the interface";
const TWO_YEARS_MS = 2 * 366 * 86_400_000;

/**
 * Reads the events of a calendar (RFC 5545, `.ics`). Each date of a repeating event is an event. `options.defaults` gives the
 * fields that a calendar lacks, such as `event_organiser`, `activated`, or `event_start_time` for events of whole days.
 *
 * | Field | Source |
 * |---|---|
 * | key | `UID`, followed by the planned start if the event repeats |
 * | title, description, genres | `SUMMARY`, `DESCRIPTION`, `CATEGORIES` |
 * | venue's name | `LOCATION` |
 * | organiser | the name (`CN`) of `ORGANIZER` |
 * | link, and ticket link if `options.defaults` has none | `URL` |
 * | canceled | `STATUS:CANCELLED`; with `STATUS:TENTATIVE`, the event is a draft |
 * | time zone | the zone of `DTSTART`. Floating times, and those in UTC, are read in the zone of the calendar, otherwise in `options.timeZone` |
 *
 * @param calendar a text, or bytes in UTF-8
 * @returns the events, all faults and notices; the first `VEVENT` is row 1
 * @throws {Error} if the input is not a complete calendar, is larger than 16 MiB, or has more than 20,000 dates
 */
export function readICalendar(calendar: string | Uint8Array, options: CalendarReadOptions = {}): FileReading {
  const { timeZone = DEFAULT_TIME_ZONE, from = new Date(), until = new Date(from.getTime() + TWO_YEARS_MS) } = options;
  const { events, zones, zoneName } = partsOf(calendar);
  const home = zoneName?.includes("/") && !/^etc\//i.test(zoneName) && isTimeZone(zoneName) ? zoneName : timeZone;
  const budget = new StepBudget(MAX_STEPS);
  const reader = new OccurrenceReader(new Zones(zones, home, budget), { from, until }, budget);
  const moved = movedDatesOf(events, reader);
  const rows: UncheckedRow[] = [];
  const faults: EventFault[] = [];
  const notices: EventFault[] = [];
  let omitted = 0;
  for (const [index, event] of events.entries()) {
    const row = index + 1;
    const dates = isFault(event) ? event : datesOf(row, event, reader, moved);
    if (isFault(event) || "message" in dates) {
      faults.push(dates as EventFault);
      continue;
    }
    if (isRepeating(event)) notices.push(repeatNotice(row, dates.length, { from, until }, event));
    else if (dates.length === 0) omitted += 1;
    const content = contentOf(event, options);
    for (const date of dates) rows.push(rowOf(row, content, date, textOf(event, "uid")));
    if (rows.length > MAX_EVENTS) throw new Error(`it has more than ${MAX_EVENTS} dates. Choose an earlier end`);
  }
  if (omitted > 0)
    notices.push(fault(1, "DTSTART", `is before ${dayOf(from)} in ${omitted} events, which were omitted`));
  const reading = checkRows(rows, { ...options, timeZone: home });
  return { ...limited(inOrder([...faults, ...reading.faults]), reading, options.maxFaults), notices };
}

function limited(
  faults: readonly EventFault[],
  { entries, omittedFaults = 0 }: Reading,
  limit = faults.length,
): Reading {
  const omitted = omittedFaults + Math.max(0, faults.length - limit);
  return { entries, faults: faults.slice(0, limit), ...(omitted > 0 && { omittedFaults: omitted }) };
}

/** Returns the ids of the dates that events of their own replace, by UID. */
function movedDatesOf(events: readonly (Component | EventFault)[], reader: OccurrenceReader) {
  const moved = new Map<string, Set<string>>();
  for (const event of events) {
    if (isFault(event)) continue;
    const uid = textOf(event, "uid") ?? "";
    try {
      for (const time of propertiesOf(event, "recurrence-id").flatMap(timesOf))
        moved.set(uid, (moved.get(uid) ?? new Set()).add(reader.idOf(time)));
    } catch (error) {
      // The event itself reports this fault.
      if (!(error instanceof Unreadable)) throw error;
    }
  }
  return moved;
}

function datesOf(
  row: number,
  event: Component,
  reader: OccurrenceReader,
  moved: ReadonlyMap<string, ReadonlySet<string>>,
): Occurrence[] | EventFault {
  try {
    return reader.datesOf(event, moved.get(textOf(event, "uid") ?? "") ?? new Set());
  } catch (error) {
    if (error instanceof Unreadable) return quoting(fault(row, error.field, error.message), error.read);
    // Temporal throws it for a duration of thousands of years.
    if (error instanceof RangeError) return fault(row, "DURATION", "is out of range");
    throw error;
  }
}

const repeatNotice = (row: number, dates: number, { from, until }: { from: Date; until: Date }, event: Component) =>
  quoting(
    fault(row, "RRULE", `repeats: ${dates} dates from ${dayOf(from)} to ${dayOf(until)} were read`),
    textOf(event, "summary"),
  );

const dayOf = (date: Date) => date.toISOString().slice(0, 10);

type Values = Record<string, string | number | undefined>;

/** Returns the fields that all dates of an event share. */
function contentOf(event: Component, { defaults = {} }: CalendarReadOptions) {
  const categories = propertiesOf(event, "categories").flatMap(([, , , ...words]) => words.map(String));
  const [organizer] = propertiesOf(event, "organizer");
  const status = textOf(event, "status")?.toUpperCase();
  const url = textOf(event, "url");
  const [changed] = propertiesOf(event, "last-modified").map(([, , , value]) => String(value));
  const values: Values = {
    event_name: textOf(event, "summary"),
    event_introductiontext: textOf(event, "description"),
    building_name: textOf(event, "location")
      ?.trim()
      .replaceAll(/\s*\n\s*/g, ", "),
    event_organiser: organizer?.[1].cn,
    event_link: url,
    ticket_link: defaults.ticket_link === undefined ? url : undefined,
    genre: categories.length > 0 ? categories.join(",") : undefined,
    state: status === "CANCELLED" ? "canceled" : undefined,
    activated: status === "TENTATIVE" ? 0 : undefined,
    updated_at: changed?.endsWith("Z") ? changed : undefined,
  };
  return { values, hasCommas: categories.some((word) => word.includes(",")) };
}

function rowOf(
  row: number,
  content: ReturnType<typeof contentOf>,
  { start, end, id }: Occurrence,
  uid: string | undefined,
): UncheckedRow {
  const [date, time] = start.local.split("T");
  const [endDate, endTime] = end?.split("T") ?? [];
  const values: Values = {
    ...content.values,
    event_key: uid === undefined || id === undefined ? uid : `${uid}/${id}`,
    event_start_date: date,
    event_start_time: time,
    event_end_date: endDate,
    event_end_time: endTime,
    timezone: start.timeZone,
  };
  const faults = content.hasCommas ? [fault(row, "genre", GENRE_WITH_COMMA)] : [];
  return { row, values, faults, texts: values as Record<string, string> };
}
