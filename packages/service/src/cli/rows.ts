import type pg from "pg";
import { readPages } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { csvCell, print } from "./output.js";

export type Format = "text" | "json" | "csv";

/** @throws {OperatorError} if both are given */
export function formatOf({ csv = false, json }: { csv?: boolean; json: boolean }): Format {
  if (csv && json) throw new OperatorError("Give --json or --csv, not both.", exitCodes.usage);
  return json ? "json" : csv ? "csv" : "text";
}

/** A list that a command prints: text for people, one JSON array, or CSV. */
export interface RowList<Row> {
  /** Its columns are the columns of CSV, and the fields of JSON. */
  readonly statement: { text: string; values: unknown[] };
  readonly format: Format;
  readonly line: (row: Row) => string;
  /** The text if there are no rows. */
  readonly none: string;
  /** Converts a row to JSON. Default: the row itself. */
  readonly wire?: (row: Row) => object;
}

const CRLF = "\r\n";

/** Formats the first line of CSV, with the column names. */
export const csvHead = (columns: readonly string[]): string => columns.join(",") + CRLF;

/** Formats a line of CSV. */
export const csvLine = (cells: readonly (string | number | object | null)[]): string =>
  cells.map((cell) => csvCell(textOf(cell))).join(",") + CRLF;

function textOf(cell: string | number | object | null): string | number | null {
  if (cell instanceof Date) return cell.toISOString();
  return typeof cell === "object" && cell !== null ? JSON.stringify(cell) : cell;
}

/** Prints rows while they are read, so that a long list needs no more memory than a page. */
export function printRows<Row extends object>(
  pool: pg.Pool,
  { statement, format, line, none, wire = (row) => row }: RowList<Row>,
): Promise<void> {
  let isFirst = true;
  const formatRow = (row: Row): string => {
    const before = isFirst ? "" : ",";
    isFirst = false;
    if (format === "json") return before + JSON.stringify(wire(row));
    return format === "text" ? `${line(row)}\n` : csvLine(Object.values(row));
  };
  return print(async (write) => {
    if (format === "json") await write("[");
    const onColumns = (columns: string[]) => (format === "csv" ? write(csvHead(columns)) : undefined);
    await readPages<Row>(pool, statement, (rows) => write(rows.map(formatRow).join("")), onColumns);
    if (format === "json") await write("]\n");
    else if (format === "text" && isFirst) await write(`${none}\n`);
  });
}
