import fs from "node:fs";
import { plainName, readTable, TableError, type TableRow, unguarded } from "@giftcard-pay/events/table";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { LineFault } from "../store/bulk-change.js";
import { warn } from "./output.js";

export interface TableFormat<Name extends string, Row> {
  /** Chooses the columns to read from those that the table has; returns none if one is missing. */
  readonly choose: (has: (name: Name) => boolean) => readonly Name[];
  /** The columns that the table may have. Others are ignored. */
  readonly columns: readonly Name[];
  /** The message if a column is missing. */
  readonly missing: string;
  readonly readRow: (line: number, cells: Readonly<Record<string, string>>) => Row | LineFault;
}

const CHUNK = 1000;

/**
 * Reads a table file. Every table file of a command is read by this function.
 *
 * @param onFault called for each faulty line, without its content. If it is called, use no row of the file
 * @throws {OperatorError} at any row, if the file can't be read or is not a table
 */
export async function* readTableFile<Name extends string, Row extends object>(
  file: string,
  { choose, columns, missing, readRow }: TableFormat<Name, Row>,
  onFault: (fault: LineFault) => void,
): AsyncGenerator<Row[]> {
  let header: Header | undefined;
  let rows: Row[] = [];
  const traces = new Traces();
  for await (const { line, cells } of tableRowsOf(file, columns)) {
    if (!header) {
      const names = cells.map(plainName);
      const chosen = choose((name) => names.includes(plainName(name)));
      if (chosen.length === 0) break;
      refuseRepeated(line, names);
      header = { width: cells.length, places: chosen.map((name) => [name, names.indexOf(plainName(name))]) };
      continue;
    }
    const read = cellsOf(header, cells, () => traces.addGuard(line));
    const row = typeof read === "string" ? { line, fault: read } : readRow(line, read);
    if ("fault" in row) {
      onFault(row);
      continue;
    }
    if (typeof read !== "string") traces.add(line, read);
    if (rows.push(row) < CHUNK) continue;
    yield rows;
    rows = [];
  }
  if (!header) throw new OperatorError(missing, exitCodes.usage);
  if (rows.length > 0) yield rows;
  for (const warning of traces.warnings()) warn(warning);
}

interface Header {
  readonly width: number;
  readonly places: readonly (readonly [name: string, place: number])[];
}

async function* tableRowsOf(file: string, columns: readonly string[]): AsyncGenerator<TableRow> {
  try {
    yield* readTable(fs.createReadStream(file), { columns });
  } catch (error) {
    if (error instanceof TableError)
      throw new OperatorError(`${file} is not a table: ${error.message}. Nothing was changed.`, exitCodes.usage);
    throw new OperatorError(`${file} cannot be read (${(error as { code?: string }).code}).`);
  }
}

/** The first line may be a card, so the message has no name. */
function refuseRepeated(line: number, names: readonly string[]): void {
  const second = names.findIndex((name, at) => name !== "" && names.indexOf(name) < at);
  if (second === -1) return;
  const first = names.indexOf(names[second] as string);
  throw new OperatorError(
    `Line ${line} names columns ${first + 1} and ${second + 1} alike. Delete the wrong one.`,
    exitCodes.usage,
  );
}

/** As spreadsheets write it. */
const SCIENTIFIC = /^[+-]?\d(?:[.,]\d+)?E[+-]\d{1,3}$/i;

/** A formula's error in any language, such as #N/A, #BEZUG! or Err:502, or a number in a column that is too narrow. */
const FORMULA_ERROR = /^(?:#(?:N\/[A-Z]|NV|#+|\p{Lu}[\p{Lu}\d/_]*[!?])|Err:\d+)$/u;

/** Returns the cells by column, or a fault. */
function cellsOf(
  { width, places }: Header,
  cells: readonly string[],
  onGuard: () => void,
): Record<string, string> | string {
  if (cells.length !== width) return `the line has ${cells.length} cells, but the header has ${width}`;
  const faults: string[] = [];
  const read = places.map(([name, place]) => {
    const text = (cells[place] ?? "").trim();
    const plain = unguarded(text);
    if (plain !== text) onGuard();
    // A PIN may begin like a guard.
    const isAmbiguous = text.startsWith("'") ? !/^\d+$/.test(plain) : text.startsWith("=") && plain === text;
    if (isAmbiguous)
      faults.push(`${name} begins with ' or =, as a spreadsheet's guard does. If that is right, write ="…" around it`);
    if (SCIENTIFIC.test(text)) faults.push(`${name} was rounded to scientific notation. Format its column as text`);
    if (FORMULA_ERROR.test(text))
      faults.push(`${name} is a spreadsheet's error. Correct it. If it is right, write ="…" around it`);
    return [name, plain];
  });
  return faults.length > 0 ? faults.join("; ") : Object.fromEntries(read);
}

/** The traces that a spreadsheet leaves in numbers. */
class Traces {
  #guards = 0;
  #guardedLine = 0;
  #areRounded = true;
  #zeros = 0;
  /** The first line with a PIN of each length. */
  readonly #lineOfLength = new Map<number, number>();

  addGuard(line: number): void {
    this.#guards += 1;
    this.#guardedLine ||= line;
  }

  add(line: number, { cardnumber = "", pin }: Readonly<Record<string, string>>): void {
    if (/^\d{16,}$/.test(cardnumber)) {
      this.#areRounded &&= /^\d{15}0+$/.test(cardnumber);
      this.#zeros += cardnumber.length - 15;
    }
    if (pin !== undefined && !this.#lineOfLength.has(pin.length)) this.#lineOfLength.set(pin.length, line);
  }

  warnings(): string[] {
    const found: string[] = [];
    if (this.#guards > 0)
      found.push(
        `${this.#guards} cells had a spreadsheet's guard, ' or ="…", which was removed, first in line ${this.#guardedLine}`,
      );
    // Fewer zeros may be a coincidence.
    if (this.#areRounded && this.#zeros > 2)
      found.push(
        "all card numbers have only zeros after their 15th digit: a spreadsheet may have rounded them. Format their column as text",
      );
    if (this.#lineOfLength.size > 1) {
      const shortest = Math.min(...this.#lineOfLength.keys());
      found.push(
        `the PINs have different lengths: a spreadsheet may have removed leading zeros. The first short one is in line ${this.#lineOfLength.get(shortest)}`,
      );
    }
    return found;
  }
}
