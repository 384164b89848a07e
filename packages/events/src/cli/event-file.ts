import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import type { FileReading, Reading } from "../check.js";
import { DEFAULT_TIME_ZONE, isTimeZone } from "../clock.js";
import type { CsvOptions, DateOrder } from "../formats/csv.js";
import { readCsv } from "../formats/csv.js";
import { readJson } from "../formats/json.js";
import { TableError } from "../formats/table.js";
import { type EventRow, type RowField, rowFields } from "../row.js";
import { exitCodes, Failure, faultLines } from "./output.js";

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_FAULTS = 100;

/** The options of `fileCommand`. */
export interface FileOptions {
  readonly timezone: string;
  readonly dates?: DateOrder;
  readonly default?: EventRow;
}

/** Creates a command that reads a file. */
export const fileCommand = (name: string): Command =>
  new Command(name)
    .argument("<file>", "events.csv or events.json")
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
    );

function withDefault(text: string, others: EventRow = {}): EventRow {
  const [field = "", ...value] = text.split("=");
  if (!rowFields.includes(field as RowField) || value.length === 0)
    throw new InvalidArgumentError("Give a field of an event and its value, such as event_organiser=Zaal.");
  return { ...others, [field]: value.join("=") };
}

/** Computes a row's key from its content, so that changes elsewhere in the file don't create the event again. */
function keyOf(row: EventRow): string {
  const content = JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `row-${createHash("sha256").update(content).digest("hex").slice(0, 32)}`;
}

/**
 * Reads a file of events: a CSV table or a JSON array of rows with the interface's field names.
 *
 * @throws {Failure} if the file can't be read, or has no events
 */
export async function readEventFile(
  file: string,
  options: FileOptions,
  judge?: CsvOptions["judge"],
): Promise<FileReading> {
  const { timezone: timeZone, dates, default: defaults } = options;
  const reading = await readWith(file, {
    timeZone,
    maxFaults: MAX_FAULTS,
    ...(dates && { dates }),
    ...(defaults && { defaults }),
    ...(judge && { judge }),
  });
  if (reading.entries.length + reading.faults.length > 0) return { notices: [], ...reading };
  const lines = [`${file} contains no events.`, ...faultLines(reading.notices ?? [])];
  throw new Failure(lines.join("\n"), exitCodes.usage);
}

async function readWith(file: string, options: CsvOptions): Promise<Reading & Partial<FileReading>> {
  const kind = path.extname(file).toLowerCase();
  if (kind === ".ics")
    throw new Failure(
      `${file} is a calendar. Calendars are only written, not read: give a table or JSON.`,
      exitCodes.usage,
    );
  if (![".csv", ".tsv", ".json"].includes(kind))
    throw new Failure(`${file}: the name must end in .csv, .tsv or .json. Save a workbook as CSV.`, exitCodes.usage);
  const bytes = await readBytes(file);
  if (kind !== ".json")
    return readCsv(bytes, { ...options, keyOf }).catch((error: unknown) => {
      throw error instanceof TableError ? notA(file, "a table", error) : error;
    });
  const value = parsed(file, bytes);
  if (!Array.isArray(value))
    throw new Failure(
      `${file} must contain an array of events: [{ "event_name": … }, …]. Feeds are only written, not read.`,
      exitCodes.usage,
    );
  return readJson(value, { ...options, keyOf });
}

const notA = (file: string, kind: string, { message }: Error) =>
  new Failure(`${file} is not ${kind}: ${message}.`, exitCodes.usage);

function parsed(file: string, bytes: Uint8Array): unknown {
  try {
    if (!isUtf8(bytes)) throw new Error("it is not UTF-8. Save it as UTF-8");
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw notA(file, "JSON", error as Error);
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
