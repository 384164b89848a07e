/** The tables in docs/how-it-is-tested.md. The long tests write their results there. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { root } from "../lib/command.mjs";

/** The page, relative to the root. */
export const PAGE = "docs/how-it-is-tested.md";

/** The name of the table of `recordRun`. */
const RUNS = "the runs";

/** Matches a table in the page. @param {string} writer */
const placeOf = (writer) => new RegExp(`(?<=<!-- written by ${writer} -->\n)[\\s\\S]*?(?=\n<!-- end -->)`);

/** Returns a table's rows, without its head. @param {string} document @param {string} writer @returns {string[]} */
export const rowsOf = (document, writer) => placeOf(writer).exec(document)?.[0].split("\n").slice(2) ?? [];

/** @param {string} document @param {string} writer @param {string} table */
export const putTable = (document, writer, table) => document.replace(placeOf(writer), () => table);

/** @param {string} writer @param {string} table */
export async function writeTable(writer, table) {
  const file = path.join(root, PAGE);
  await writeFile(file, putTable(await readFile(file, "utf8"), writer, table));
}

/**
 * A complete run of a long test.
 * @typedef {object} Run
 * @property {string} command such as `npm run prove -- people`
 * @property {Date} at
 * @property {string} extent such as `100 carts`
 * @property {number} violations
 */

/** Returns the page with a run in the place of the command's previous run. @param {string} document @param {Run} run */
export function putRun(document, { command, at, extent, violations }) {
  const first = `| \`${command}\` |`;
  const row = `${first} ${at.toISOString().slice(0, 10)} | ${extent} | ${violations} |`;
  const rows = rowsOf(document, RUNS).filter((other) => !other.startsWith(first));
  const table = ["| Command | Last run | Extent | Violations |", "|---|---|---|---|", ...[...rows, row].sort()];
  return putTable(document, RUNS, table.join("\n"));
}

/** @param {Omit<Run, "at">} run */
export async function recordRun(run) {
  const file = path.join(root, PAGE);
  await writeFile(file, putRun(await readFile(file, "utf8"), { ...run, at: new Date() }));
}

/** Returns the recorded runs with violations. @param {string} document @returns {string[]} */
export const violationsIn = (document) => rowsOf(document, RUNS).filter((row) => Number(row.split("|").at(-2)) !== 0);
