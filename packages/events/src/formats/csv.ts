import { type Options, parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import {
  checkRows,
  type EventFault,
  type FileReading,
  fault,
  quoting,
  type ReadOptions,
  type UncheckedRow,
} from "../check.js";
import { type RowField, requiredFields, rowFields, rowOf } from "../row.js";
import { type DateOrder, readCell } from "./cells.js";
import { decodeTable } from "./decode.js";
import type { EventFormat } from "./format.js";

export type { DateOrder } from "./cells.js";

/** Prefixes a text that a spreadsheet would run as a formula with `'`. */
const guarded = (cell: string | number | undefined) =>
  typeof cell === "string" && /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
const unguarded = (cell = "") => cell.replace(/^'(?='*[=+\-@\t\r])/, "");

const lineOf = (cells: readonly (string | number | undefined)[]) =>
  stringify([cells], { quoted_string: true, record_delimiter: "windows" });

/** A table with the interface's field names and all of an event's content. `readCsv` reads it. */
export const csv: EventFormat = {
  mediaType: "text/csv; charset=utf-8",
  head: stringify([rowFields], { record_delimiter: "windows" }),
  between: "",
  tail: "",
  write(event) {
    const row = rowOf(event);
    return lineOf(rowFields.map((field) => guarded(row[field])));
  },
};

/** Options for reading a table. */
export interface TableOptions extends ReadOptions {
  /**
   * The order of day and month in dates with hyphens or slashes. Without it, a date that has two meanings, such as `05-10-2036`,
   * and one with the month first is a fault. `26-10-2036`, `26.10.2036` and `2036-10-26` need no order.
   */
  readonly dates?: DateOrder;
}

const MAX_ROWS = 100_000;
const MAX_COLUMNS = 256;
const SEPARATORS = [",", ";", "\t"];

/**
 * Reads a table as spreadsheets write it. Its header has the interface's field names, in any case, with spaces or hyphens for
 * underscores. Commas, semicolons or tabs separate the cells. Dates, times, amounts, yes and no have the forms of English, Dutch,
 * German and French spreadsheets. Removes the `'` that protects a text from being run as a formula.
 *
 * @param table a text, or bytes in UTF-8, UTF-16 or Windows-1252
 * @returns the events, all faults and notices; the header is row 1. Unknown columns are notices. If the header is faulty, no row
 *   is read
 * @throws {Error} if the input isn't a table, or has more than 100,000 rows or 256 columns
 */
export function readCsv(table: string | Uint8Array, options: TableOptions = {}): FileReading {
  const { text, encoding } = typeof table === "string" ? { text: table, encoding: undefined } : decodeTable(table);
  const [names, ...lines] = recordsOf(text);
  if (!names) return { entries: [], faults: [], notices: [] };
  const columns = names.map((name) => fieldsByName.get(plainName(name)));
  const notices = [
    ...(encoding === "windows-1252" ? [encodingNotice(text)] : []),
    ...strangersOf(names, columns, lines),
  ];
  const faults = faultsOf(columns, options);
  if (faults.length > 0) return { entries: [], faults, notices };
  return { ...checkRows(rowsOf(columns, lines, options.dates), options), notices };
}

/** A column's name without case, spaces and punctuation. */
const plainName = (name: string) => name.toLowerCase().replaceAll(/[\s_-]/g, "");
const fieldsByName = new Map(rowFields.map((field) => [plainName(field), field]));

type Columns = readonly (RowField | undefined)[];

function recordsOf(table: string): string[][] {
  // Some programs name the separator in a first line, which spreadsheets don't show.
  const [line = "", named] = /^\uFEFF?sep=(.)\r?\n/i.exec(table) ?? [];
  const text = table.slice(line.length);
  const delimiter = named ?? separatorOf(text);
  const options = {
    delimiter,
    bom: true,
    trim: true,
    relax_column_count: true,
    to: MAX_ROWS + 2,
    cast(cell: string, { index }: { index: number }) {
      if (index >= MAX_COLUMNS) throw new Error(`a row has more than ${MAX_COLUMNS} cells`);
      return cell;
    },
  };
  const records = parsed(text, options);
  if (records.length > MAX_ROWS + 1) throw new Error(`it has more than ${MAX_ROWS} rows. Split it`);
  return records;
}

const UNQUOTED = new Set([
  "INVALID_OPENING_QUOTE",
  "CSV_INVALID_CLOSING_QUOTE",
  "CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE",
]);

/** Google Sheets writes tables with tabs without quoting: their quotes are part of the text. */
function parsed(text: string, options: Options & { delimiter: string }): string[][] {
  try {
    return parse(text, options);
  } catch (error) {
    const isUnquoted = UNQUOTED.has(String((error as { code?: string }).code));
    if (options.delimiter !== "\t" || !isUnquoted) throw error;
    return parse(text, { ...options, quote: false });
  }
}

/** Returns the separator with which the header has most fields. Spreadsheets use semicolons in countries with a decimal comma. */
function separatorOf(text: string): string {
  const header = text.slice(0, 65_536).split(/\r\n?|\n/, 1)[0] ?? "";
  const found = SEPARATORS.map((separator) => {
    const names = header.split(separator);
    const known = names.filter((name) => fieldsByName.has(plainName(name.replaceAll(/["\uFEFF]/g, ""))));
    return { separator, score: known.length * 1000 + names.length };
  });
  return found.reduce((best, each) => (each.score > best.score ? each : best)).separator;
}

function* rowsOf(columns: Columns, lines: readonly string[][], order: DateOrder | undefined): Generator<UncheckedRow> {
  for (const [index, cells] of lines.entries()) {
    const row = index + 2;
    // Spreadsheets write empty lines and cells at the end.
    const width = cells.findLastIndex((cell) => cell !== "") + 1;
    if (width === 0) continue;
    const faults: EventFault[] = [];
    if (width > columns.length) faults.push(fault(row, "", `has ${width} cells, but the header has ${columns.length}`));
    const values: Record<string, string> = {};
    const texts: Record<string, string> = {};
    for (const [at, field] of columns.entries()) {
      const text = unguarded(cells[at]).trim();
      if (field === undefined || text === "") continue;
      texts[field] = text;
      const read = readCell(field, text, order);
      if ("fault" in read) faults.push(fault(row, field, read.fault));
      values[field] = "value" in read ? read.value : text;
    }
    yield { row, values, texts, faults };
  }
}

const encodingNotice = (text: string) =>
  quoting(
    fault(1, "", "is not UTF-8, and was read as Windows-1252. If the quoted text is wrong, save the file as UTF-8"),
    /[^\s,;"]*[^\p{ASCII}][^\s,;"]*/u.exec(text)?.[0],
  );

/** Returns a notice for each column that isn't a field. Columns without a name and content are none. */
const strangersOf = (names: readonly string[], columns: Columns, lines: readonly string[][]) =>
  names.flatMap((name, at) =>
    columns[at] || (name === "" && lines.every((cells) => !cells[at]))
      ? []
      : [fault(1, name || `column ${at + 1}`, "is not a field of an event, and was ignored")],
  );

function faultsOf(columns: Columns, { defaults = {} }: TableOptions): EventFault[] {
  const twice = new Set(columns.filter((field, at) => field !== undefined && columns.indexOf(field) < at));
  return [
    ...[...twice].map((field) => fault(1, field ?? "", "is a column twice")),
    ...requiredFields
      .filter((field) => !columns.includes(field) && defaults[field] === undefined)
      .map((field) => fault(1, field, "is a required column")),
  ];
}
