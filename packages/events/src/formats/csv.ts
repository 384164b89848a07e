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
import type { EventFormat } from "./format.js";
import { plainName, readTable, TableError, type TableRow, tableText, unguarded } from "./table.js";

export type { DateOrder } from "./cells.js";

/** A table with the interface's field names and all of an event's content. `readCsv` reads it. */
export const csv: EventFormat = {
  mediaType: "text/csv; charset=utf-8",
  head: `${rowFields.join(",")}\r\n`,
  between: "",
  tail: "",
  write(event) {
    const row = rowOf(event);
    return tableText([rowFields.map((field) => row[field])]);
  },
};

/** Options for reading a table. */
export interface CsvOptions extends ReadOptions {
  /**
   * The order of day and month in dates with hyphens or slashes. Without it, a date that has two meanings, such as `05-10-2036`,
   * and one with the month first is a fault. `26-10-2036`, `26.10.2036` and `2036-10-26` need no order.
   */
  readonly dates?: DateOrder;
}

const MAX_ROWS = 100_000;

/**
 * Reads a table as spreadsheets write it. Its header has the interface's field names, in any case, with spaces or hyphens for
 * underscores. Commas, semicolons or tabs separate the cells. Dates, times, amounts, yes and no have the forms of English, Dutch,
 * German and French spreadsheets. Removes the guards of formulas and numbers: `'=1`, `'0123`, `="0123"`.
 *
 * @param table a text, or bytes in UTF-8, UTF-16 or Windows-1252
 * @returns the events, all faults and notices; the header is row 1. Unknown columns are notices. If the header is faulty, no row
 *   is read
 * @throws {TableError} if the input isn't a table, or has more than 100,000 rows or 256 columns
 */
export async function readCsv(table: string | Uint8Array, options: CsvOptions = {}): Promise<FileReading> {
  const notices: EventFault[] = [];
  const [header, ...lines] = await rowsOf(table, (word) => notices.push(quoting(NOT_UTF_8, word)));
  if (!header) return { entries: [], faults: [], notices };
  const columns = header.cells.map((name) => fieldsByName.get(plainName(name)));
  notices.push(...strangersOf(header.cells, columns, lines));
  const faults = faultsOf(columns, options);
  if (faults.length > 0) return { entries: [], faults, notices };
  return { ...checkRows(valuesOf(columns, lines, options.dates), options), notices };
}

const NOT_UTF_8 = fault(
  1,
  "",
  "is not UTF-8, and was read as Windows-1252. If the quoted text is wrong, save the file as UTF-8",
);

const fieldsByName = new Map(rowFields.map((field) => [plainName(field), field]));

type Columns = readonly (RowField | undefined)[];

async function rowsOf(table: string | Uint8Array, onWindows1252: (word?: string) => void, quotes = true) {
  const rows: TableRow[] = [];
  try {
    for await (const row of readTable(table, { columns: rowFields, quotes, onWindows1252 })) {
      if (row.row > MAX_ROWS + 1) throw new TableError(`it has more than ${MAX_ROWS} rows. Split it`);
      rows.push(row);
    }
  } catch (error) {
    if (error instanceof TableError && error.isUnquoted) return rowsOf(table, () => {}, false);
    throw error;
  }
  return rows;
}

function* valuesOf(
  columns: Columns,
  lines: readonly TableRow[],
  order: DateOrder | undefined,
): Generator<UncheckedRow> {
  for (const { row, cells } of lines) {
    // Spreadsheets write empty cells at the end, and leave out some of them.
    const width = cells.findLastIndex((cell) => cell.trim() !== "") + 1;
    const faults: EventFault[] = [];
    if (width > columns.length) faults.push(fault(row, "", `has ${width} cells, but the header has ${columns.length}`));
    const values: Record<string, string> = {};
    const texts: Record<string, string> = {};
    for (const [at, field] of columns.entries()) {
      const text = unguarded(cells[at]?.trim() ?? "").trim();
      if (field === undefined || text === "") continue;
      texts[field] = text;
      const read = readCell(field, text, order);
      if ("fault" in read) faults.push(fault(row, field, read.fault));
      values[field] = "value" in read ? read.value : text;
    }
    yield { row, values, texts, faults };
  }
}

/** Returns a notice for each column that isn't a field. Columns without a name and content are none. */
const strangersOf = (names: readonly string[], columns: Columns, lines: readonly TableRow[]) =>
  names.flatMap((name, at) =>
    columns[at] || (name.trim() === "" && lines.every(({ cells }) => !cells[at]?.trim()))
      ? []
      : [fault(1, name.trim() || `column ${at + 1}`, "is not a field of an event, and was ignored")],
  );

function faultsOf(columns: Columns, { defaults = {} }: CsvOptions): EventFault[] {
  const twice = new Set(columns.filter((field, at) => field !== undefined && columns.indexOf(field) < at));
  return [
    ...[...twice].map((field) => fault(1, field ?? "", "is a column twice")),
    ...requiredFields
      .filter((field) => !columns.includes(field) && defaults[field] === undefined)
      .map((field) => fault(1, field, "is a required column")),
  ];
}
