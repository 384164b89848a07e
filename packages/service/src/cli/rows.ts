import { type Cell, tableText } from "@giftcard-pay/events/table";
import { exitCodes, OperatorError } from "../operator-error.js";
import { print } from "./output.js";

type Format = "text" | "json" | "csv";

/** @throws {OperatorError} if both are given */
export function formatOf({ csv, json }: { csv: boolean; json: boolean }): Format {
  if (csv && json) throw new OperatorError("Give --json or --csv, not both.", exitCodes.usage);
  return json ? "json" : csv ? "csv" : "text";
}

/** The format of a list: text for people, one JSON array, or CSV. */
export interface RowFormat<Row> {
  readonly format: Format;
  /** Converts a row to JSON. Its values are the cells of CSV. */
  readonly wire: (row: Row) => object;
  readonly line: (row: Row) => string;
  /** The text if there are no rows. */
  readonly none: string;
  /** The column names of CSV. */
  readonly columns?: readonly string[];
}

/** Formats the first line of CSV, with the column names. */
export const csvHead = (columns: readonly string[]): string => `${columns.join(",")}\r\n`;

/** Formats rows as CSV. */
export const csvRows = (rows: readonly (readonly (Cell | object)[])[]): string =>
  tableText(
    rows.map((cells) => cells.map((cell) => (typeof cell === "object" && cell !== null ? JSON.stringify(cell) : cell))),
  );

/** Prints rows while they are read, so that a long list needs no more memory than a page. */
export function printRows<Row>(
  read: (onPage: (rows: Row[]) => Promise<void>) => Promise<void>,
  { format, wire, line, none, columns = [] }: RowFormat<Row>,
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
    if (format === "csv") await write(csvHead(columns));
    await read((rows) =>
      write(format === "csv" ? csvRows(rows.map((row) => Object.values(wire(row)))) : rows.map(formatRow).join("")),
    );
    if (format === "json") await write("]\n");
    else if (format === "text" && isFirst) await write(`${none}\n`);
  });
}
