import { csvCell, print } from "./output.js";

/** How an answer of many rows is printed: the text for people, one JSON array, or comma-separated values. */
export interface RowFormat<Row> {
  readonly format: "text" | "json" | "csv";
  /** A row as JSON has it; its values are the cells of CSV. */
  readonly wire: (row: Row) => object;
  readonly line: (row: Row) => string;
  /** The text where there is no row. */
  readonly none: string;
  /** The first line of CSV. */
  readonly columns?: readonly string[];
}

const CRLF = "\r\n";

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
    return Object.values(wire(row)).map(csvCell).join(",") + CRLF;
  };
  return print(async (write) => {
    if (format === "json") await write("[");
    if (format === "csv") await write(columns.join(",") + CRLF);
    await read((rows) => write(rows.map(spell).join("")));
    if (format === "json") await write("]\n");
    else if (format === "text" && isFirst) await write(`${none}\n`);
  });
}
