import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { Reading, ReadOptions } from "../check.js";
import { readCsv } from "../formats/csv.js";
import { readFeed } from "../formats/feed.js";
import { readJson } from "../formats/json.js";
import type { EventRow } from "../row.js";
import { exitCodes, Failure } from "./failure.js";

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Returns the SHA-256 of a text in hexadecimal. */
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Computes a row's key from its content, so that changes elsewhere in the file don't create the event again. */
const keyOf = (row: EventRow) =>
  `row-${sha256(JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 32)}`;

/** Options for reading a file. */
type FileOptions = Omit<ReadOptions, "keyOf">;

/**
 * Opens a file of events: a CSV table or a JSON array of rows with the interface's field names, or a feed.
 *
 * @returns a function that reads the events
 * @throws {Failure} if the file can't be read. The returned function throws it if the file has no events
 */
export async function openEventFile(file: string): Promise<(options: FileOptions) => Reading> {
  const kind = path.extname(file).toLowerCase();
  if (kind !== ".csv" && kind !== ".json")
    throw new Failure(`${file}: the name must end in .csv or .json.`, exitCodes.usage);
  const read = readerOf(file, kind, await readText(file));
  return (options) => {
    const reading = read(options);
    if (reading.entries.length + reading.faults.length === 0)
      throw new Failure(`${file} contains no events.`, exitCodes.usage);
    return reading;
  };
}

function readerOf(file: string, kind: ".csv" | ".json", text: string): (options: FileOptions) => Reading {
  if (kind === ".csv") return (options) => parsed(file, "a table", () => readCsv(text, { ...options, keyOf }));
  const value: unknown = parsed(file, "JSON", () => JSON.parse(text));
  if (Array.isArray(value)) return (options) => readJson(value, { ...options, keyOf });
  if (typeof value === "object" && value !== null && "events" in value) return (options) => readFeed(value, options);
  throw new Failure(`${file} must contain an array of events, or a feed: { "events": [...] }.`, exitCodes.usage);
}

function parsed<T>(file: string, kind: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Failure(`${file} is not ${kind}: ${error instanceof Error ? error.message : error}`, exitCodes.usage);
  }
}

async function readText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES)
      throw new Failure(`${file} is larger than 64 MiB. Split it, and push each part.`, exitCodes.usage);
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "is not UTF-8. Save it as UTF-8" : `cannot be read (${code})`;
    throw new Failure(`${file} ${reason}.`, exitCodes.usage);
  }
}
