import { csvCell } from "./output.js";

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

/**
 * Prints rows as they are read, so that a million of them need no more memory than a page. A reader who has seen enough,
 * as `head`, ends it without a word.
 */
export async function printRows<Row>(
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
  try {
    if (format === "json") await write("[");
    if (format === "csv") await write(columns.join(",") + CRLF);
    await read((rows) => write(rows.map(spell).join("")));
    if (format === "json") await write("]\n");
    else if (format === "text" && isFirst) await write(`${none}\n`);
  } catch (error) {
    if ((error as { code?: string }).code !== "EPIPE") throw error;
  }
}

/** Waits until it is taken: nothing piles up before a slow reader. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

// Each write hears of it by itself.
process.stdout.on("error", () => {});
