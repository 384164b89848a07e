import { InvalidArgumentError } from "commander";

/** @param {string} text */
export const say = (text) => void process.stdout.write(`${text}\n`);

/** A terminal obeys control characters, which have no business in what others wrote. @param {string} text */
export const printable = (text) => text.replaceAll(/\p{Cc}+/gu, " ");

/** Rows under their names, between tabs. @param {string} title @param {Record<string, string | number>[]} rows */
export const table = (title, rows) =>
  [title, Object.keys(rows[0] ?? { none: "" }).join("\t"), ...rows.map(lineOf)].join("\n");

/** @param {Record<string, string | number>} row */
const lineOf = (row) =>
  Object.values(row)
    .map((cell) => printable(String(cell)))
    .join("\t");

/** Parses an option that is a whole number. @param {number} min @param {number} max */
export const wholeNumber = (min, max) => (/** @type {string} */ text) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  return value;
};
