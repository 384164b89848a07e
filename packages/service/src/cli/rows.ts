import { type Cell, tableText } from "@giftcard-pay/events/table";
import type pg from "pg";
import { readPages } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { print } from "./output.js";

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

/** Formats the first line of CSV, with the column names. */
export const csvHead = (columns: readonly string[]): string => `${columns.join(",")}\r\n`;

export const csvRows = (rows: readonly (readonly (Cell | object)[])[]): string =>
  tableText(rows.map((cells) => cells.map(cellOf)));

function cellOf(cell: Cell | object): Cell {
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
    return `${line(row)}\n`;
  };
  return print(async (write) => {
    if (format === "json") await write("[");
    const onColumns = (columns: string[]) => (format === "csv" ? write(csvHead(columns)) : undefined);
    await readPages<Row>(
      pool,
      statement,
      (rows) => write(format === "csv" ? csvRows(rows.map((row) => Object.values(row))) : rows.map(formatRow).join("")),
      onColumns,
    );
    if (format === "json") await write("]\n");
    else if (format === "text" && isFirst) await write(`${none}\n`);
  });
}
