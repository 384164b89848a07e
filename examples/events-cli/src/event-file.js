import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { exitCodes, Failure } from "./failure.js";

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * An event as the file has it.
 * @typedef {object} Row
 * @property {number} row as a spreadsheet counts, the header being row 1; in a JSON file the first event is 1
 * @property {Record<string, unknown>} values what isn't empty, by column
 */

/** @typedef {{ row: number, column: string, message: string }} Fault */

/**
 * Reads a file of events: CSV with a header of the interface's field names, or a JSON array of objects.
 *
 * @param {string} file
 * @param {{ columns: readonly string[], required: readonly string[] }} fields what a column may be, and must be
 * @returns {Promise<{ rows: Row[], faults: Fault[] }>} no rows where the header is at fault
 * @throws {Failure} where there is nothing to read rows from
 */
export async function readEventFile(file, fields) {
  const kind = path.extname(file).toLowerCase();
  if (kind !== ".csv" && kind !== ".json")
    throw new Failure(`${file}: give a file that ends in .csv or .json.`, exitCodes.usage);
  const text = await readText(file);
  const { rows, faults } =
    kind === ".csv" ? readCsv(file, text, fields) : readJson(file, text, fields.columns);
  if (rows.length + faults.length === 0) throw new Failure(`${file} holds no events.`, exitCodes.usage);
  return { rows, faults };
}

/** @param {string} file */
async function readText(file) {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES)
      throw new Failure(`${file} is larger than 64 MiB. Split it; each part can be pushed.`, exitCodes.usage);
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    const reason =
      code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "is not UTF-8; save it so" : `cannot be read (${code})`;
    throw new Failure(`${file} ${reason}.`, exitCodes.usage);
  }
}

/**
 * @param {string} file
 * @param {string} text
 * @param {{ columns: readonly string[], required: readonly string[] }} fields
 */
function readCsv(file, text, { columns, required }) {
  // Spreadsheets write semicolons where the comma is the decimal mark.
  const firstLine = text.split(/\r?\n/, 1)[0] ?? "";
  const delimiter = firstLine.split(";").length > firstLine.split(",").length ? ";" : ",";
  /** @type {string[][]} */
  let records;
  try {
    records = parse(text, { delimiter, trim: true, relax_column_count: true });
  } catch (error) {
    throw new Failure(`${file}: ${error instanceof Error ? error.message : error}`, exitCodes.usage);
  }
  const [header, ...lines] = records;
  if (!header) return { rows: [], faults: [] };
  const faults = [
    ...header
      .filter((column) => !columns.includes(column))
      .map((column) => fault(1, column, "is not a field of an event")),
    ...header
      .filter((column, index) => header.indexOf(column) < index)
      .map((column) => fault(1, column, "stands there twice")),
    ...required
      .filter((column) => !header.includes(column))
      .map((column) => fault(1, column, "is a column that must be there")),
  ];
  if (faults.length > 0) return { rows: [], faults };
  /** @type {Row[]} */
  const rows = [];
  for (const [index, cells] of lines.entries()) {
    const row = index + 2;
    // Spreadsheets leave empty lines behind.
    if (cells.every((cell) => cell === "")) continue;
    if (cells.length > header.length)
      faults.push(fault(row, "", `has ${cells.length} cells where the header has ${header.length}`));
    else rows.push({ row, values: filled(header.map((column, at) => [column, cells[at]])) });
  }
  return { rows, faults };
}

/** @param {string} file @param {string} text @param {readonly string[]} columns */
function readJson(file, text, columns) {
  /** @type {unknown} */
  let list;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new Failure(
      `${file} is not JSON: ${error instanceof Error ? error.message : error}`,
      exitCodes.usage,
    );
  }
  if (!Array.isArray(list)) throw new Failure(`${file} must hold an array of events.`, exitCodes.usage);
  /** @type {Fault[]} */
  const faults = [];
  /** @type {Row[]} */
  const rows = [];
  for (const [index, value] of list.entries()) {
    const row = index + 1;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      faults.push(fault(row, "", "must be an object"));
      continue;
    }
    for (const column of Object.keys(value))
      if (!columns.includes(column)) faults.push(fault(row, column, "is not a field of an event"));
    rows.push({ row, values: filled(Object.entries(value)) });
  }
  return { rows, faults };
}

/** @param {[string, unknown][]} cells */
const filled = (cells) =>
  Object.fromEntries(cells.filter(([, value]) => value !== "" && value !== null && value !== undefined));

/** @param {number} row @param {string} column @param {string} message @returns {Fault} */
export const fault = (row, column, message) => ({ row, column, message });
