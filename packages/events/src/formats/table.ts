import { isAscii, isUtf8 } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { TextDecoder } from "node:util";
import { parse } from "csv-parse";
import { parse as parseText } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";

/** The error of a file that is not a table. Its message names the line, and never repeats the file's content. */
export class TableError extends Error {
  override readonly name = "TableError";

  /** @param isUnquoted whether the quotes may be text: Google Sheets writes tables with tabs without quoting */
  constructor(
    message: string,
    readonly isUnquoted = false,
  ) {
    super(message);
  }
}

/** A row of a table. */
export interface TableRow {
  /** The row as spreadsheets count: the header is row 1. */
  readonly row: number;
  /** The line of the file in which the row begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Options for reading a table. */
export interface TableOptions {
  /** The names of known columns. They tell which separator the header has. */
  readonly columns: readonly string[];
  /** Whether quotes enclose cells. Default: yes. */
  readonly quotes?: boolean;
  /** Called if the table is in Windows-1252, with a word that shows whether that is right. */
  readonly onWindows1252?: (word: string | undefined) => void;
}

const MAX_COLUMNS = 256;
const MAX_ROW_CHARACTERS = 1024 * 1024;
const CHUNK = 65_536;
const SEPARATORS = [",", ";", "\t"];

/** Returns a column's name without case, spaces, hyphens and underscores. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, "");

/**
 * Reads a table as spreadsheets and programs write it: separated by commas, semicolons, tabs, or the separator of a first line
 * `sep=`; with quotes; with any line ends, if all are alike; in UTF-8, UTF-16 or Windows-1252. Holds one row at a time.
 *
 * @param source a text, or the bytes of a file
 * @returns the rows with their cells unchanged, the header first. Rows without content are skipped
 * @throws {TableError} at any row, so use no row before the last one is read
 */
export async function* readTable(
  source: string | Uint8Array | AsyncIterable<Uint8Array>,
  { columns, quotes = true, onWindows1252 = () => {} }: TableOptions,
): AsyncGenerator<TableRow> {
  const bytes = typeof source === "string" ? Buffer.from(source) : source;
  const texts = decoded(bytes instanceof Uint8Array ? chunksOf(bytes) : bytes, onWindows1252);
  let head = "";
  for (let next = await texts.next(); !next.done; next = await texts.next()) {
    head += next.value;
    if (head.length >= CHUNK) break;
  }
  // Some programs name the separator in a first line, which spreadsheets don't show.
  const [first = "", named] = /^"?sep=(.)"?(?:\r\n?|\n)/i.exec(head) ?? [];
  if (named && /[\w"' ]/.test(named)) throw new TableError("line 1: sep= must name a separator, such as sep=;");
  const delimiter = named ?? separatorOf(head, columns, quotes);
  let row = 0;
  let line = first ? 2 : 1;
  let hasStray = false;
  const parser = parse({
    delimiter,
    quote: quotes && '"',
    relax_column_count: true,
    max_record_size: MAX_ROW_CHARACTERS,
    cast(cell, { quoting, index }) {
      if (index >= MAX_COLUMNS) throw new TableError(`line ${line}: the row has more than ${MAX_COLUMNS} cells`);
      // Such a cell may be a part of a line, or a text that its writer should have quoted.
      hasStray ||= !quoting && /[\r\n]/.test(cell);
      return cell;
    },
    on_record(cells) {
      if (hasStray) throw new TableError(`line ${line}: its line end differs from the first line's`);
      const found: TableRow = { row: ++row, line, cells };
      line += linesOf(cells);
      // The library's types allow only cells.
      return found as unknown as string[];
    },
  });
  const rest = async function* () {
    yield head.slice(first.length);
    yield* texts;
  };
  // The loop throws the errors.
  pipeline(Readable.from(rest()), parser, () => {});
  let width = 0;
  try {
    for await (const found of parser as AsyncIterable<TableRow>) {
      const { cells } = found;
      // In a table of one column, `,` is not a row of empty cells: no header says that it separates.
      if (cells.every((cell) => !/\S/.test(cell)) && (cells.length === 1 || width !== 1)) continue;
      width ||= cells.length;
      yield found;
    }
  } catch (error) {
    throw tableErrorOf(error, line, delimiter === "\t");
  }
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
}

/** Counts a row's lines. */
const linesOf = (cells: readonly string[]): number =>
  cells.reduce((lines, cell) => lines + (cell.match(/\r\n?|\n/g)?.length ?? 0), 1);

/** Returns the separator with which the header has most known names. A guess could move cells to other columns. */
function separatorOf(head: string, columns: readonly string[], quotes: boolean): string {
  const known = new Set(columns.map(plainName));
  const found = SEPARATORS.flatMap((separator) => {
    const names = headerOf(head, separator, quotes);
    return names.length > 1 ? [{ separator, known: names.filter((name) => known.has(plainName(name))).length }] : [];
  }).sort((one, other) => other.known - one.known);
  const [best, second] = found;
  if (best && best.known === second?.known)
    throw new TableError("line 1: the separator is ambiguous. Name it in a line before, such as sep=;");
  return best?.separator ?? ",";
}

function headerOf(head: string, delimiter: string, quotes: boolean): string[] {
  try {
    const options = { delimiter, quote: quotes && '"', to: 1, skip_records_with_empty_values: true };
    return parseText(head, { ...options, relax_column_count: true })[0] ?? [];
  } catch {
    return [];
  }
}

/** Converts the library's error, whose message repeats a cell. */
function tableErrorOf(error: unknown, line: number, hasTabs: boolean): unknown {
  const { code } = error as { code?: string };
  if (code === "CSV_QUOTE_NOT_CLOSED") return new TableError(`line ${line}: a quote is not closed`);
  if (code === "CSV_MAX_RECORD_SIZE")
    return new TableError(
      `line ${line}: the row has more than ${MAX_ROW_CHARACTERS} characters. A quote may not be closed`,
    );
  if (code === "INVALID_OPENING_QUOTE" || code === "CSV_INVALID_CLOSING_QUOTE")
    return new TableError(
      `line ${line}: a quote doesn't enclose its cell. Quotes inside a cell must be doubled`,
      hasTabs,
    );
  return error;
}

const NOT_TEXT = "its characters are neither UTF-8, UTF-16 nor Windows-1252. Save it as CSV in UTF-8";

/** Decodes a table. Its first characters that aren't ASCII decide between UTF-8 and Windows-1252. */
async function* decoded(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  onWindows1252: (word: string | undefined) => void,
): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let isFirst = true;
  let held: Uint8Array = new Uint8Array();
  const take = (isLast: boolean): string => {
    const isDecided = decoder !== undefined;
    decoder ??= decoderOf(held, isFirst);
    const text = decoder ? textOf(decoder, held, !isLast) : Buffer.from(held).toString("latin1");
    if (text.includes("\0")) throw new TableError(NOT_TEXT);
    if (!isDecided && decoder?.encoding === "windows-1252")
      onWindows1252(/[^\s,;"]*[^\p{ASCII}][^\s,;"]*/u.exec(text)?.[0]);
    isFirst = false;
    held = new Uint8Array();
    return text;
  };
  for await (const chunk of chunks) {
    held = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
    // A cut character doesn't show the encoding.
    if (decoder || (held.at(-1) ?? 0) < 0x80) yield take(false);
  }
  yield take(true);
}

/** Returns undefined for ASCII. */
function decoderOf(bytes: Uint8Array, isFirst: boolean): TextDecoder | undefined {
  const [first, second] = bytes;
  if (isFirst && first === 0x50 && second === 0x4b) throw new TableError("it is a workbook. Save it as CSV in UTF-8");
  // A table begins with the name of a column, so one of its first two bytes is 0 in UTF-16.
  const isLittle = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0);
  if (isFirst && (isLittle || isBig)) return new TextDecoder(isLittle ? "utf-16le" : "utf-16be", { fatal: true });
  if (isAscii(bytes)) return undefined;
  return new TextDecoder(isUtf8(bytes) ? "utf-8" : "windows-1252", { fatal: true });
}

function textOf(decoder: TextDecoder, bytes: Uint8Array, stream: boolean): string {
  let text: string;
  try {
    text = decoder.decode(bytes, { stream });
  } catch {
    throw new TableError(NOT_TEXT);
  }
  // Windows-1252 has no character for some bytes, which the decoder returns as control characters.
  if (decoder.encoding === "windows-1252" && /[\u0080-\u009f]/.test(text)) throw new TableError(NOT_TEXT);
  return text;
}

/** Characters with which a spreadsheet's formula begins. */
const FORMULA = "[=+\\-@\\t\\r]";
const NEEDS_GUARD = new RegExp(`^(?:'*${FORMULA}|'+\\d+$)`);
const GUARD = new RegExp(`^'(?='*${FORMULA}|'*\\d+$)`);
const TEXT_FORMULA = /^="((?:[^"]|"")*)"$/;

/**
 * Removes the guard that keeps a text from being run as a formula or read as a number: the `'` of `'=1+1` and `'0123`, and the
 * formula of `="0123"`. Inverts the guards of `tableText`.
 */
export function unguarded(cell: string): string {
  const [, text] = TEXT_FORMULA.exec(cell) ?? [];
  return text === undefined ? cell.replace(GUARD, "") : text.replaceAll('""', '"');
}

/** The value of a cell. */
export type Cell = string | number | boolean | null | undefined;

const written = (cell: Cell) => {
  if (typeof cell === "boolean") return String(cell);
  return typeof cell === "string" && NEEDS_GUARD.test(cell) ? `'${cell}` : cell;
};

/** Writes rows as CSV. Texts are quoted, and guarded from being run as formulas. `readTable` and `unguarded` read them. */
export const tableText = (rows: readonly (readonly Cell[])[]): string =>
  stringify(
    rows.map((row) => row.map(written)),
    { quoted_string: true, record_delimiter: "windows" },
  );
