import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { FileReading, Reading } from "../check.js";
import { DEFAULT_TIME_ZONE, isTimeZone } from "../clock.js";
import type { DateOrder, TableOptions } from "../formats/csv.js";
import { readCsv } from "../formats/csv.js";
import { readFeed } from "../formats/feed.js";
import { readJson } from "../formats/json.js";
import { type EventRow, type RowField, rowFields } from "../row.js";
import { exitCodes, Failure } from "./failure.js";
import { faultLines } from "./output.js";

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_FAULTS = 100;

/** The file of a command. */
export const FILE = ["<file>", "events.csv, events.ics, events.json or a feed"] as const;

/** The values of `fileOptions`. */
export interface FileOptions {
  readonly timezone: string;
  readonly dates?: DateOrder;
  readonly default?: EventRow;
  readonly until?: Date;
}

/** Adds the options of commands that read a file. */
export const fileOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--timezone <name>", "the time zone of events that name none")
        .default(DEFAULT_TIME_ZONE)
        .argParser((name) => {
          if (!isTimeZone(name)) throw new InvalidArgumentError(`Give a time zone, such as ${DEFAULT_TIME_ZONE}.`);
          return name;
        }),
    )
    .addOption(
      new Option("--dates <order>", "for tables: how to read dates such as 05-10-2036").choices([
        "day-first",
        "month-first",
      ]),
    )
    .addOption(
      new Option("--default <field=value>", "the value of a field that an event lacks; can be repeated").argParser(
        withDefault,
      ),
    )
    .addOption(
      new Option(
        "--until <date>",
        "for calendars: the last date of repeating events (default: in two years)",
      ).argParser(endOfDay),
    );

function withDefault(text: string, others: EventRow = {}): EventRow {
  const [field = "", ...value] = text.split("=");
  if (!rowFields.includes(field as RowField) || value.length === 0)
    throw new InvalidArgumentError("Give a field of an event and its value, such as event_organiser=Zaal.");
  return { ...others, [field]: value.join("=") };
}

function endOfDay(text: string): Date {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T23:59:59Z`) : new Date(Number.NaN);
  if (Number.isNaN(day.getTime())) throw new InvalidArgumentError("Give a date, yyyy-mm-dd.");
  return day;
}

/** Returns the SHA-256 of a text in hexadecimal. */
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Computes a row's key from its content, so that changes elsewhere in the file don't create the event again. */
const keyOf = (row: EventRow) =>
  `row-${sha256(JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 32)}`;

type Judge = Pick<TableOptions, "judge">;

/**
 * Opens a file of events: a CSV table or a JSON array of rows with the interface's field names, a calendar, or a feed.
 *
 * @returns a function that reads the events
 * @throws {Failure} if the file can't be read. The returned function throws it if the file has no events
 */
export async function openEventFile(file: string, options: FileOptions): Promise<(judge?: Judge) => FileReading> {
  const kind = path.extname(file).toLowerCase();
  if (![".csv", ".tsv", ".ics", ".json"].includes(kind))
    throw new Failure(
      `${file}: the name must end in .csv, .tsv, .ics or .json. Save a workbook as CSV.`,
      exitCodes.usage,
    );
  const read = await readerOf(file, kind, await readBytes(file));
  const { timezone: timeZone, dates, default: defaults, until } = options;
  const others = {
    timeZone,
    maxFaults: MAX_FAULTS,
    ...(dates && { dates }),
    ...(defaults && { defaults }),
    ...(until && { until }),
  };
  return (judge = {}) => {
    const reading = read({ ...others, ...judge });
    if (reading.entries.length + reading.faults.length === 0)
      throw new Failure(
        [`${file} contains no events.`, ...faultLines(reading.notices ?? [])].join("\n"),
        exitCodes.usage,
      );
    return { notices: [], ...reading };
  };
}

type Reader = (options: TableOptions & { until?: Date }) => Reading & Partial<FileReading>;

async function readerOf(file: string, kind: string, bytes: Uint8Array): Promise<Reader> {
  if (kind === ".ics") {
    const { readICalendar } = await import("../calendar/index.js");
    return (options) => parsed(file, "a calendar", () => readICalendar(bytes, { ...options, keyOf }));
  }
  if (kind !== ".json") return (options) => parsed(file, "a table", () => readCsv(bytes, { ...options, keyOf }));
  const value: unknown = parsed(file, "JSON", () => JSON.parse(decoded(bytes)));
  if (Array.isArray(value)) return (options) => readJson(value, { ...options, keyOf });
  if (typeof value === "object" && value !== null && "events" in value) return (options) => readFeed(value, options);
  throw new Failure(`${file} must contain an array of events, or a feed: { "events": [...] }.`, exitCodes.usage);
}

function parsed<T>(file: string, kind: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Failure(`${file} is not ${kind}: ${error instanceof Error ? error.message : error}.`, exitCodes.usage);
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("it is not UTF-8. Save it as UTF-8");
  }
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES)
      throw new Failure(`${file} is larger than 64 MiB. Split it, and push each part.`, exitCodes.usage);
    return await readFile(file);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, exitCodes.usage);
  }
}
