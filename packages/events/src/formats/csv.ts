import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import {
  checkRows,
  type EventFault,
  fault,
  inOrder,
  type Reading,
  type ReadOptions,
  type UncheckedRow,
} from "../check.js";
import { requiredFields, rowFields, rowOf } from "../row.js";
import type { EventFormat } from "./format.js";

/** Prefixes a text that a spreadsheet would run as a formula with `'`. */
const guarded = (cell: string | number | undefined) =>
  typeof cell === "string" && /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
const unguarded = (cell: string | undefined) => cell?.replace(/^'(?='*[=+\-@\t\r])/, "");

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

/**
 * Reads a table whose header has the interface's field names, separated by commas or semicolons. Removes the `'` that
 * protects a text from being run as a formula.
 *
 * @returns the events, and all faults; the header is row 1. If the header is faulty, no row is read
 * @throws {Error} if the text isn't a table
 */
export function readCsv(text: string, options?: ReadOptions): Reading {
  // Spreadsheets write semicolons in countries with a decimal comma.
  const firstLine = text.split(/\r?\n/, 1)[0] ?? "";
  const delimiter = firstLine.split(";").length > firstLine.split(",").length ? ";" : ",";
  const records: string[][] = parse(text, { delimiter, bom: true, trim: true, relax_column_count: true });
  const [header, ...lines] = records;
  if (!header) return { entries: [], faults: [] };
  const headerFaults = faultsOf(header);
  if (headerFaults.length > 0) return { entries: [], faults: headerFaults };
  const faults: EventFault[] = [];
  const rows: UncheckedRow[] = [];
  for (const [index, cells] of lines.entries()) {
    const row = index + 2;
    // Spreadsheets write empty lines at the end.
    if (cells.every((cell) => cell === "")) continue;
    if (cells.length > header.length)
      faults.push(fault(row, "", `has ${cells.length} cells, but the header has ${header.length}`));
    else
      rows.push({
        row,
        values: Object.fromEntries(header.map((field, at) => [field, unguarded(cells[at])])),
      });
  }
  const read = checkRows(rows, options);
  return { entries: read.entries, faults: inOrder([...faults, ...read.faults]) };
}

function faultsOf(header: readonly string[]): EventFault[] {
  const fields: readonly string[] = rowFields;
  return [
    ...header.filter((field) => !fields.includes(field)).map((field) => fault(1, field, "is not a field of an event")),
    ...header
      .filter((field, index) => header.indexOf(field) < index)
      .map((field) => fault(1, field, "is a column twice")),
    ...requiredFields
      .filter((field) => !header.includes(field))
      .map((field) => fault(1, field, "is a required column")),
  ];
}
