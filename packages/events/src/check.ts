import type * as z from "zod";
import { DEFAULT_TIME_ZONE } from "./clock.js";
import type { ShopEvent } from "./event.js";
import {
  type EventRow,
  filled,
  type RowField,
  requiredFields,
  rowFields,
  rowOf,
  rowSchema,
  venueFields,
} from "./row.js";

/** A fault of an event, with a message that says what to write instead. */
export interface EventFault {
  /** The row as its author counts: 1 is the first event, or the header of a table. */
  readonly row: number;
  /** The field's name in the input; "" for the whole row. */
  readonly field: string;
  readonly message: string;
  /** The text in the table, shortened. */
  readonly read?: string;
}

/** The result of reading events: those without faults, and the faults of the others. */
export interface Reading {
  readonly entries: readonly { readonly row: number; readonly event: ShopEvent }[];
  readonly faults: readonly EventFault[];
  /** The number of further faults, if `maxFaults` omitted some. */
  readonly omittedFaults?: number;
}

/** The result of reading a table. */
export interface FileReading extends Reading {
  /** Parts of the file that were ignored, and assumptions. They are no faults. */
  readonly notices: readonly EventFault[];
}

/** A row before validation. */
export interface UncheckedRow {
  readonly row: number;
  readonly values: Readonly<Record<string, unknown>>;
  /** The faults of fields that could not be read. These fields are not validated. */
  readonly faults?: readonly EventFault[];
  /** The texts of the fields, for `read` of their faults. */
  readonly texts?: Readonly<Record<string, string | undefined>>;
}

/** Options for reading rows. */
export interface ReadOptions {
  /** The time zone of rows that name none. Default: `Europe/Amsterdam`. */
  readonly timeZone?: string;
  /** Values of fields that a row lacks, by the interface's names. */
  readonly defaults?: EventRow;
  /** The number of faults to report. The others are counted. Default: all. */
  readonly maxFaults?: number;
  /** Computes the key of a row without one, from the row's content. Without this option, such a row is faulty. */
  readonly keyOf?: (row: EventRow) => string;
  /** Finds further faults of a row, by the interface's names. Also called for rows that are faulty already. */
  readonly judge?: (row: number, values: UncheckedRow["values"]) => EventFault[];
}

const PLACEHOLDER = "-";

/** Creates a fault. */
export const fault = (row: number, field: string, message: string): EventFault => ({ row, field, message });

/**
 * Validates rows with the interface's field names. Every format is read by this function.
 *
 * @returns the events of the rows without faults, in order, and all faults of the others
 */
export function checkRows(rows: Iterable<UncheckedRow>, options: ReadOptions = {}): Reading {
  const { timeZone = DEFAULT_TIME_ZONE, defaults = {}, maxFaults = Number.POSITIVE_INFINITY, keyOf, judge } = options;
  const entries: { row: number; event: ShopEvent }[] = [];
  const faults: EventFault[] = [];
  let omittedFaults = 0;
  const rowOfKey = new Map<string, number>();
  for (const { row, values, faults: unread = [], texts } of rows) {
    const given = { ...trimmed(defaults), ...trimmed(values) };
    const isKeyless = given.event_key === undefined;
    const read = rowSchema.safeParse({
      timezone: timeZone,
      ...given,
      ...(isKeyless && keyOf && { event_key: PLACEHOLDER }),
    });
    const isUnread = new Set(unread.map(({ field }) => field));
    const validated = [
      ...strangersOf(row, given),
      ...(read.error?.issues ?? []).map((issue) => faultOf(row, issue, given)),
      ...(judge?.(row, given) ?? []),
    ];
    const found = [...unread, ...validated.filter(({ field }) => !isUnread.has(field))];
    if (read.data) {
      const event = isKeyless && keyOf ? { ...read.data, key: keyOf(contentOf(read.data)) } : read.data;
      const twin = rowOfKey.get(event.key);
      if (twin !== undefined) found.push(fault(row, "event_key", twinMessage(isKeyless, row, twin)));
      rowOfKey.set(event.key, twin ?? row);
      if (found.length === 0) entries.push({ row, event });
    }
    const reported = found.slice(0, maxFaults - faults.length);
    faults.push(...reported.map((each) => quoting(each, texts?.[each.field])));
    omittedFaults += found.length - reported.length;
  }
  return { entries, faults, ...(omittedFaults > 0 && { omittedFaults }) };
}

const QUOTED_CHARACTERS = 60;

/** Adds the text that was read to a fault. */
export const quoting = (found: EventFault, text: string | undefined): EventFault =>
  text?.trim() ? { ...found, read: shortened(text.trim()) } : found;

const shortened = (text: string) => (text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text);

/** Returns the content that identifies an event without a key. Its state and update time are not part of it. */
function contentOf(event: ShopEvent): EventRow {
  const row = rowOf(event);
  const { event_key: _placeholder, state: _state, activated: _activated, updated_at: _updated, ...content } = row;
  return content;
}

const strangersOf = (row: number, values: object) =>
  Object.keys(values)
    .filter((field) => !rowFields.includes(field as RowField))
    .map((field) => fault(row, field, "is not a field of an event"));

const trimmed = (values: UncheckedRow["values"]): Record<string, unknown> =>
  filled(
    Object.fromEntries(
      Object.entries(values).map(([field, value]) => [field, typeof value === "string" ? value.trim() : value]),
    ),
  );

const twinMessage = (isKeyless: boolean, row: number, twin: number) =>
  isKeyless ? `is required: rows ${twin} and ${row} have the same content` : `is also the key of row ${twin}`;

function faultOf(row: number, issue: z.core.$ZodIssue, values: Record<string, unknown>): EventFault {
  const field = String(issue.path[0] ?? "");
  return fault(row, field, messageOf(issue, field, values));
}

function messageOf(issue: z.core.$ZodIssue, field: string, values: Record<string, unknown>): string {
  const isNeeded = requiredFields.includes(field as RowField) || field === "event_key";
  if (isNeeded && values[field] === undefined) return "is required";
  if (issue.code === "too_big" && issue.origin === "string") return `must have at most ${issue.maximum} characters`;
  if (issue.code === "too_big" || issue.code === "too_small") return "is out of range";
  return issue.message;
}

/** The model's names of the interface's fields. */
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
  ...Object.fromEntries(Object.entries(venueFields).map(([name, field]) => [field, `venue.${name}`])),
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

/** Returns the model's name of an interface's field. */
export const modelNameOf = (field: string): string => modelNames[field] ?? field;

/**
 * Validates events that a program created, and normalizes their texts as reading any format does.
 *
 * @returns the events without faults, and the faults by the model's names; the first event is row 1
 */
export function checkEvents(events: Iterable<ShopEvent>): Reading {
  const all = [...events];
  const found = all.flatMap((event, index) => formFaultsOf(index + 1, event));
  const read = checkRows(all.map((event, index) => ({ row: index + 1, values: rowOf(event) })));
  const isWrong = new Set(found.map(({ row }) => row));
  const others = renamed(read.faults, modelNameOf).filter(
    ({ row, field }) => !found.some((known) => known.row === row && known.field === field),
  );
  return {
    entries: read.entries.filter(({ row }) => !isWrong.has(row)),
    faults: inOrder([...found, ...others]),
  };
}

const isDayAndTime = (time: string) => /^[^T]+T[^T]+$/.test(time);

/** Finds faults that an event's row can't show, because it has times and lists in another form. */
function formFaultsOf(row: number, { start, end, ...event }: ShopEvent): EventFault[] {
  const faults = (["genres", "lineup"] as const)
    .filter((field) => event[field].some((word) => word.includes(",")))
    .map((field) => fault(row, field, "must not contain a comma, which separates values in the interface"));
  if (start && !isDayAndTime(start)) faults.push(fault(row, "start", "must be a day and a time, yyyy-mm-ddThh:mm:ss"));
  if (end?.includes("T") && !isDayAndTime(end))
    faults.push(fault(row, "end", "must be a day, yyyy-mm-dd, or a day and a time, yyyy-mm-ddThh:mm:ss"));
  return faults;
}

/** Renames the fields of faults, and sorts the faults by row. */
export const renamed = (faults: readonly EventFault[], nameOf: (field: string) => string): EventFault[] =>
  inOrder(faults.map((each) => ({ ...each, field: nameOf(each.field) })));

/** Sorts faults by row. */
export const inOrder = (faults: readonly EventFault[]): EventFault[] => faults.toSorted((a, b) => a.row - b.row);
