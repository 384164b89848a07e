import type * as z from "zod";
import { DEFAULT_TIME_ZONE } from "./clock.js";
import type { ShopEvent } from "./event.js";
import { type EventRow, filled, type RowField, requiredFields, rowFields, rowOf, rowSchema } from "./row.js";

/** What is wrong, where, and what to write instead. */
export interface EventFault {
  /** As whoever wrote it counts: 1 is the first event, or in a table the header. */
  readonly row: number;
  /** The field by its name in what was read; "" where it is the row as a whole. */
  readonly field: string;
  readonly message: string;
}

/** Events that are right, and what is wrong with the others. */
export interface Reading {
  readonly entries: readonly { readonly row: number; readonly event: ShopEvent }[];
  readonly faults: readonly EventFault[];
}

/** A row that is to be checked. */
export interface UncheckedRow {
  readonly row: number;
  readonly values: Readonly<Record<string, unknown>>;
}

/** How rows are read. */
export interface ReadOptions {
  /** The zone of rows that name none; `Europe/Amsterdam` by default. */
  readonly timeZone?: string;
  /** Makes a key for a row without one, from what the row holds. Without it, such a row is at fault. */
  readonly keyOf?: (row: EventRow) => string;
  /** What else is wrong with a row, by the interface's names; asked also where the row has faults already. */
  readonly judge?: (row: number, values: UncheckedRow["values"]) => EventFault[];
}

const PLACEHOLDER = "-";

/** Makes a fault. */
export const fault = (row: number, field: string, message: string): EventFault => ({ row, field, message });

/**
 * Reads rows by the interface's names, and names every fault. All ways in end here.
 *
 * @returns the events of the rows that are right, in their order
 */
export function checkRows(rows: Iterable<UncheckedRow>, options: ReadOptions = {}): Reading {
  const { timeZone = DEFAULT_TIME_ZONE, keyOf, judge } = options;
  const entries: { row: number; event: ShopEvent }[] = [];
  const faults: EventFault[] = [];
  const rowOfKey = new Map<string, number>();
  for (const { row, values } of rows) {
    const given = trimmed(values);
    const isKeyless = given.event_key === undefined;
    const read = rowSchema.safeParse({
      timezone: timeZone,
      ...given,
      ...(isKeyless && keyOf && { event_key: PLACEHOLDER }),
    });
    const found = [
      ...strangersOf(row, given),
      ...(read.error?.issues ?? []).map((issue) => faultOf(row, issue, given)),
      ...(judge?.(row, given) ?? []),
    ];
    if (read.data) {
      const event = isKeyless && keyOf ? { ...read.data, key: keyOf(contentOf(read.data)) } : read.data;
      const twin = rowOfKey.get(event.key);
      if (twin !== undefined) found.push(fault(row, "event_key", twinMessage(isKeyless, row, twin)));
      rowOfKey.set(event.key, twin ?? row);
      if (found.length === 0) entries.push({ row, event });
    }
    faults.push(...found);
  }
  return { entries, faults };
}

/** What it is known by without a key: the same when it is published, taken back, or only touched. */
function contentOf(event: ShopEvent): EventRow {
  const row = rowOf(event);
  const {
    event_key: _placeholder,
    state: _state,
    activated: _activated,
    updated_at: _updated,
    ...content
  } = row;
  return content;
}

const strangersOf = (row: number, values: object) =>
  Object.keys(values)
    .filter((field) => !rowFields.includes(field as RowField))
    .map((field) => fault(row, field, "is not a field of an event"));

const trimmed = (values: UncheckedRow["values"]): Record<string, unknown> =>
  filled(
    Object.fromEntries(
      Object.entries(values).map(([field, value]) => [
        field,
        typeof value === "string" ? value.trim() : value,
      ]),
    ),
  );

const twinMessage = (isKeyless: boolean, row: number, twin: number) =>
  isKeyless ? `is needed: rows ${twin} and ${row} hold the same` : `is that of row ${twin} too`;

function faultOf(row: number, issue: z.core.$ZodIssue, values: Record<string, unknown>): EventFault {
  const field = String(issue.path[0] ?? "");
  return fault(row, field, messageOf(issue, field, values));
}

function messageOf(issue: z.core.$ZodIssue, field: string, values: Record<string, unknown>): string {
  const isNeeded = requiredFields.includes(field as RowField) || field === "event_key";
  if (isNeeded && values[field] === undefined) return "is required";
  if (issue.code === "too_big" && issue.origin === "string")
    return `must have at most ${issue.maximum} characters`;
  if (issue.code === "too_big" || issue.code === "too_small") return "is out of range";
  return issue.message;
}

/** A fault's field by the model's names, for those that a person fills in. */
const modelNames: Partial<Record<string, string>> = {
  event_key: "key",
  eventprovider_id: "providerId",
  event_name: "title",
  event_organiser: "organiser",
  event_start_date: "start",
  event_start_time: "start",
  event_end_date: "end",
  event_end_time: "end",
  timezone: "timeZone",
  building_name: "venue.name",
  streetname: "venue.streetName",
  streetnumber: "venue.streetNumber",
  zipcode: "venue.zipCode",
  city: "venue.city",
  country: "venue.country",
  poster_url: "posterUrl",
  banner_url: "bannerUrl",
  event_introductiontext: "description",
  genre: "genres",
  minimumage: "minimumAgeYears",
  event_price: "priceFromCents",
  event_videourl: "videoUrl",
  event_link: "eventLink",
  ticket_link: "ticketLink",
  updated_at: "updatedAt",
};

/**
 * Checks events that a program made, and writes their texts as every other way in does.
 *
 * @returns faults by the model's names; the first event is row 1
 */
export function checkEvents(events: Iterable<ShopEvent>): Reading {
  const all = [...events];
  const found = all.flatMap((event, index) => formFaultsOf(index + 1, event));
  const read = checkRows(all.map((event, index) => ({ row: index + 1, values: rowOf(event) })));
  const isWrong = new Set(found.map(({ row }) => row));
  const others = renamed(read.faults, (field) => modelNames[field] ?? field).filter(
    ({ row, field }) => !found.some((one) => one.row === row && one.field === field),
  );
  return {
    entries: read.entries.filter(({ row }) => !isWrong.has(row)),
    faults: inOrder([...found, ...others]),
  };
}

const isDayAndTime = (time: string) => /^[^T]+T[^T]+$/.test(time);

/** What a row can't tell, as it has times and lists in another form. */
function formFaultsOf(row: number, { start, end, ...event }: ShopEvent): EventFault[] {
  const faults = (["genres", "lineup"] as const)
    .filter((field) => event[field].some((word) => word.includes(",")))
    .map((field) => fault(row, field, "must hold no comma: the interface separates them by commas"));
  if (start && !isDayAndTime(start))
    faults.push(fault(row, "start", "must be a day and a time, yyyy-mm-ddThh:mm:ss"));
  if (end?.includes("T") && !isDayAndTime(end))
    faults.push(fault(row, "end", "must be a day, yyyy-mm-dd, or a day and a time, yyyy-mm-ddThh:mm:ss"));
  return faults;
}

/** The faults by other names, in the order of their rows. */
export const renamed = (faults: readonly EventFault[], nameOf: (field: string) => string): EventFault[] =>
  inOrder(faults.map((one) => ({ ...one, field: nameOf(one.field) })));

/** The faults in the order of their rows. */
export const inOrder = (faults: readonly EventFault[]): EventFault[] =>
  faults.toSorted((a, b) => a.row - b.row);
