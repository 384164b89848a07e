/** The tables of faults: `npm run prove -- faults` writes them, and a check compares them with the current cells. */
import { rowsOf } from "./written-tables.mjs";

/** The possible outcomes of a cell, in the order of the columns. */
const outcomes = /** @type {const} */ (["paid", "whole", "refunded", "part", "person"]);

/** @typedef {{ shop: string, place: string }} Cell */
/** @typedef {{ cell: Cell, verdict: import("../../test/prove/faults/verdict.js").Verdict }} Result */

/** The commands that write a table. */
export const writers = /** @type {const} */ (["npm run prove -- faults", "npm run prove -- faults --vendure"]);

/** Returns a cell's row. The plain shop has one row for both stores. @param {Cell} cell */
const rowOf = ({ shop, place }) => `${shop.replace(/ (?:sqlite|postgresql)$/, "")} | ${place}`;

/** @param {Result} result */
export const isBad = ({ verdict }) => verdict.wrong.length > 0;

/**
 * Returns a row for each shop and place, with the number of purchases per outcome.
 * @param {readonly Result[]} results
 */
export function tableOf(results) {
  const counts = (/** @type {readonly Result[]} */ here) => [
    here.length,
    ...outcomes.map((one) => here.filter((result) => !isBad(result) && result.verdict.outcome === one).length),
    here.filter(isBad).length,
  ];
  const places = Map.groupBy(results, ({ cell }) => rowOf(cell));
  return [
    `| shop | place | cells | ${outcomes.join(" | ")} | bad |`,
    `|---|---|---|${outcomes.map(() => "---|").join("")}---|`,
    ...[...places].map(([row, here]) => `| ${row} | ${counts(here).join(" | ")} |`),
    `| all |  | ${counts(results).join(" | ")} |`,
  ].join("\n");
}

/**
 * Compares a command's table with the command's cells.
 *
 * @param {string} document
 * @param {(typeof writers)[number]} writer
 * @param {readonly Cell[]} cells
 * @returns {string[]} rows with bad cells, and rows that don't match the cells
 */
export function faultsOfTable(document, writer, cells) {
  const rows = new Map(
    rowsOf(document, writer).map((line) => {
      const [shop = "", place = "", ...counts] = line.split("|").slice(1, -1);
      return [`${shop.trim()} | ${place.trim()}`, counts.map(Number)];
    }),
  );
  const expected = Map.groupBy(cells, rowOf);
  const counts = new Map([...expected].map(([row, here]) => [row, here.length]));
  counts.set("all | ", cells.length);
  return [...new Set([...counts.keys(), ...rows.keys()])].flatMap((row) => {
    const [written = 0, ...ended] = rows.get(row) ?? [];
    const count = counts.get(row) ?? 0;
    const name = row.replace(/ \| $/, "");
    const wrong = [];
    if (written !== count) wrong.push(`${name}: the table has ${written} cells, and there are ${count}.`);
    if (ended.reduce((sum, one) => sum + one, 0) !== written)
      wrong.push(`${name}: the row doesn't add up to its ${written} cells.`);
    if ((ended.at(-1) ?? 0) > 0) wrong.push(`${name}: bad cells: ${ended.at(-1)}.`);
    return wrong;
  });
}
