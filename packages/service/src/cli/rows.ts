import { exitCodes, OperatorError } from "../operator-error.js";
import { csvCell, print } from "./output.js";

type Format = "text" | "json" | "csv";

/** @throws {OperatorError} when both are asked for */
export function formatOf({ csv, json }: { csv: boolean; json: boolean }): Format {
  if (csv && json) throw new OperatorError("Give --json or --csv, not both.", exitCodes.usage);
  return json ? "json" : csv ? "csv" : "text";
}

/** How an answer of many rows is printed: the text for people, one JSON array, or comma-separated values. */
export interface RowFormat<Row> {
  readonly format: Format;
  /** A row as JSON has it; its values are the cells of CSV. */
  readonly wire: (row: Row) => object;
  readonly line: (row: Row) => string;
  /** The text where there is no row. */
  readonly none: string;
  /** The first line of CSV. */
  readonly columns?: readonly string[];
}

const CRLF = "\r\n";

/** The line of comma-separated values that names the columns. */
export const csvHead = (columns: readonly string[]): string => columns.join(",") + CRLF;

/** A line of comma-separated values. */
export const csvLine = (cells: readonly (string | number | object | null)[]): string =>
  cells
    .map((cell) => csvCell(typeof cell === "object" && cell !== null ? JSON.stringify(cell) : cell))
    .join(",") + CRLF;

/** Prints rows as they are read, so that a million of them need no more memory than a page. */
export function printRows<Row>(
  read: (onPage: (rows: Row[]) => Promise<void>) => Promise<void>,
  { format, wire, line, none, columns = [] }: RowFormat<Row>,
): Promise<void> {
  let isFirst = true;
  const spell = (row: Row): string => {
    const before = isFirst ? "" : ",";
    isFirst = false;
    if (format === "json") return before + JSON.stringify(wire(row));
    if (format === "text") return `${line(row)}\n`;
    return csvLine(Object.values(wire(row)));
  };
  return print(async (write) => {
    if (format === "json") await write("[");
    if (format === "csv") await write(csvHead(columns));
    await read((rows) => write(rows.map(spell).join("")));
    if (format === "json") await write("]\n");
    else if (format === "text" && isFirst) await write(`${none}\n`);
  });
}
