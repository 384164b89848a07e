import ICAL from "ical.js";
import { type EventFault, fault } from "../check.js";

/** A property of a component, as `ical.js` parses it (jCal, RFC 7265). */
export type Property = readonly [name: string, parameters: Record<string, string>, type: string, ...values: unknown[]];

/** A component: its properties, and those of the components inside it. */
export type Component = readonly [name: string, properties: Property[], components: Component[]];

/** The parts of a calendar that describe events. */
export interface CalendarParts {
  /** The events, in order. An event that can't be parsed is a fault. */
  readonly events: readonly (Component | EventFault)[];
  readonly zones: ReadonlyMap<string, Component>;
  /** The zone that the calendar names for all of its events. */
  readonly zoneName: string | undefined;
}

const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_LINE_CHARACTERS = 64 * 1024;
const MAX_COMPONENTS = 10_000;

/** The lines that are parsed. A calendar can have many others, such as attached files. */
const NEEDED =
  /^(?:BEGIN|END|UID|DTSTART|DTEND|DURATION|RRULE|EXRULE|RDATE|EXDATE|RECURRENCE-ID|STATUS|SUMMARY|DESCRIPTION|LOCATION|URL|CATEGORIES|ORGANIZER|LAST-MODIFIED|TZID|TZOFFSETFROM|TZOFFSETTO)[;:]/i;
const INVALID_INTERVAL = /^RRULE.*;INTERVAL=(?!0*[1-9])/i;
const NOT_NEEDED = /^(?:\s*|[A-Z0-9-]+[;:].*)$/i;

/**
 * Splits a calendar into its events and time zones, and parses each on its own: an invalid line is a fault of its event.
 *
 * @throws {Error} if the input is not a whole calendar, or has more than 16 MiB or 10,000 events
 */
export function partsOf(calendar: string | Uint8Array): CalendarParts {
  const text = unfolded(calendar);
  const lines = text.split(/[\r\n]+/);
  if (lines[0]?.trim().toUpperCase() !== "BEGIN:VCALENDAR") throw new Error("it does not begin with BEGIN:VCALENDAR");
  const { blocks, others } = blocksOf(lines);
  if (!others.includes("END:VCALENDAR")) throw new Error("it ends without END:VCALENDAR: a part of it is missing");
  const events = blocks.filter(({ name }) => name === "VEVENT").map(({ lines: own }, at) => parsed(own, at + 1));
  const zones = blocks.filter(({ name }) => name === "VTIMEZONE").map(({ lines: own }) => parsed(own, 0));
  return {
    events,
    zones: new Map(
      zones.flatMap((zone) => (isFault(zone) ? [] : [[String(textOf(zone, "tzid") ?? ""), zone] as const])),
    ),
    zoneName: others
      .find((line) => /^X-WR-TIMEZONE:/i.test(line))
      ?.replace(/^[^:]*:/, "")
      .trim(),
  };
}

/** Returns whether an event could not be parsed. */
export const isFault = (event: Component | EventFault): event is EventFault => "message" in event;

/**
 * Joins folded lines, and decodes them. Some programs fold between the bytes of a character, so the bytes are joined first.
 */
function unfolded(calendar: string | Uint8Array): string {
  if (calendar.length > MAX_CHARACTERS) throw new Error("it is larger than 16 MiB");
  const fold = /\r?\n[ \t]/g;
  if (typeof calendar === "string")
    return calendar
      .replaceAll(fold, "")
      .replace(/^\uFEFF/, "")
      .trim();
  const bytes = Buffer.from(Buffer.from(calendar).toString("latin1").replaceAll(fold, ""), "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch {
    throw new Error("it is not UTF-8");
  }
}

interface Block {
  readonly name: string;
  readonly lines: string[];
}

function blocksOf(lines: readonly string[]) {
  const blocks: Block[] = [];
  const others: string[] = [];
  let open: Block | undefined;
  for (const line of lines) {
    const [, begun] = /^BEGIN:(VEVENT|VTIMEZONE)\s*$/i.exec(line) ?? [];
    if (begun) {
      open = { name: begun.toUpperCase(), lines: [] };
      blocks.push(open);
      if (blocks.length > MAX_COMPONENTS) throw new Error("it has more than 10,000 events. Split it");
    }
    if (open) open.lines.push(line);
    else others.push(line.trimEnd().toUpperCase().startsWith("END:") ? line.trimEnd().toUpperCase() : line);
    if (open && line.trimEnd().toUpperCase() === `END:${open.name}`) open = undefined;
  }
  return { blocks, others };
}

function parsed(lines: readonly string[], row: number): Component | EventFault {
  const needed = lines.filter((line) => NEEDED.test(line) || !NOT_NEEDED.test(line));
  if (needed.some((line) => line.length > MAX_LINE_CHARACTERS)) return fault(row, "", "has a line of more than 64 KiB");
  // The parser takes any other interval for 1.
  if (needed.some((line) => INVALID_INTERVAL.test(line))) return fault(row, "RRULE", "has an INTERVAL below 1");
  try {
    return ICAL.parse(needed.join("\r\n")) as unknown as Component;
  } catch (error) {
    const [message = ""] = (error as Error).message.split("\n");
    return fault(row, "", `can't be read: ${message.slice(0, 100)}`);
  }
}

/** Returns the properties with a name. */
export const propertiesOf = ([, properties]: Component, name: string): Property[] =>
  properties.filter((property) => property[0] === name);

/** Returns the first value of a property, if it is a text. */
export function textOf(component: Component, name: string): string | undefined {
  const value = propertiesOf(component, name)[0]?.[3];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
