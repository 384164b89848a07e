import fs from "node:fs";
import { OperatorError } from "../operator-error.js";
import type { LineFault } from "../store/bulk-change.js";

/** Parses the cells of a line. */
export type LineReader<Row> = (line: number, cells: readonly string[]) => Row | LineFault;

const CHUNK = 1000;

/**
 * Reads a file separated by commas, semicolons or tabs. Its first line names the columns.
 *
 * @param readHead gets the names of the columns in lower case; throws an {@link OperatorError} if one is missing
 * @param onFault called for each faulty line, without its content
 * @throws {OperatorError} if the file can't be read
 */
export async function* readCsv<Row extends object>(
  file: string,
  readHead: (names: readonly string[]) => LineReader<Row>,
  onFault: (fault: LineFault) => void,
): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  let [line, separator] = [0, ","];
  let readLine: LineReader<Row> | undefined;
  for await (const text of linesOf(file)) {
    line += 1;
    if (!readLine) {
      const head = text.replace(/^\uFEFF/, "").toLowerCase();
      separator = [";", "\t"].find((one) => head.includes(one)) ?? ",";
      readLine = readHead(cellsOf(head, separator));
    } else if (text.trim() !== "") {
      const row = readLine(line, cellsOf(text, separator));
      if ("fault" in row) onFault(row);
      else if (rows.push(row) === CHUNK) {
        yield rows;
        rows = [];
      }
    }
  }
  if (!readLine) readHead([""]);
  if (rows.length > 0) yield rows;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let handle: fs.promises.FileHandle | undefined;
  try {
    handle = await fs.promises.open(file);
    yield* handle.readLines({ encoding: "utf8" });
  } catch (error) {
    throw new OperatorError(`${file} cannot be read (${(error as { code?: string }).code}).`);
  } finally {
    await handle?.close();
  }
}

const cellsOf = (text: string, separator: string) =>
  text.split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
