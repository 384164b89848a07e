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

/** A spreadsheet must not take a text for a formula: a `'` goes before one that begins so, and away when it is read. */
const guarded = (cell: string | number | undefined) =>
  typeof cell === "string" && /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
const unguarded = (cell: string | undefined) => cell?.replace(/^'(?='*[=+\-@\t\r])/, "");

const lineOf = (cells: readonly (string | number | undefined)[]) =>
  stringify([cells], { quoted_string: true, record_delimiter: "windows" });

/** A table with every column, by the interface's names: all that an event has. `readCsv` reads it again. */
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
 * Reads a table whose header has the interface's names, between commas or semicolons. A `'` before `=`, `+`, `-` or `@` is
 * left out.
 *
 * @returns the events, and every fault; the header is row 1. Where the header is at fault, no row is read
 * @throws {Error} where the text is no table
 */
export function readCsv(text: string, options?: ReadOptions): Reading {
  // Spreadsheets write semicolons where the comma is the decimal mark.
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
    // Spreadsheets leave empty lines behind.
    if (cells.every((cell) => cell === "")) continue;
    if (cells.length > header.length)
      faults.push(fault(row, "", `has ${cells.length} cells where the header has ${header.length}`));
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
    ...header
      .filter((field) => !fields.includes(field))
      .map((field) => fault(1, field, "is not a field of an event")),
    ...header
      .filter((field, index) => header.indexOf(field) < index)
      .map((field) => fault(1, field, "stands there twice")),
    ...requiredFields
      .filter((field) => !header.includes(field))
      .map((field) => fault(1, field, "is a column that must be there")),
  ];
}
