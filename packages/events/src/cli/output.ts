import { InvalidArgumentError } from "commander";
import { type EventFault, inOrder } from "../check.js";
import { exitCodes, Failure } from "./failure.js";

const SHOWN_FAULTS = 50;
const PROGRESS_EVERY_MS = 1000;

/** Prints a result. */
export const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Prints what isn't the result. */
export const tell = (text: string): void => void process.stderr.write(`${text}\n`);

/** Tells how far something is, once it takes longer than a second, and each second from then on. */
export function progress(): (text: string) => void {
  let toldAt = performance.now();
  return (text) => {
    if (performance.now() - toldAt < PROGRESS_EVERY_MS) return;
    toldAt = performance.now();
    tell(text);
  };
}

/** A terminal obeys control characters, which have no business in what others wrote. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ");

/** Rows under their names, between tabs. */
export const table = (title: string, rows: readonly object[]): string =>
  [title, Object.keys(rows[0] ?? { none: "" }).join("\t"), ...rows.map(lineOf)].join("\n");

const lineOf = (row: object) =>
  Object.values(row)
    .map((cell) => printable(String(cell)))
    .join("\t");

/** The lines that tell faults, each with its row and field. */
export function faultLines(faults: readonly EventFault[]): string[] {
  const lines = faults.slice(0, SHOWN_FAULTS).map(({ row, field, message }) => {
    const place = field ? `row ${row}, ${field}` : `row ${row}`;
    return `  ${printable(place)}: ${message}`;
  });
  const more = faults.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more; --json shows them all`] : lines;
}

/** @throws {Failure} with every fault, where there is one */
export function refuseFaulty(file: string, faults: readonly EventFault[], advice: string): void {
  if (faults.length === 0) return;
  const sorted = inOrder(faults);
  throw new Failure(
    [`${file} has faults; ${advice}`, ...faultLines(sorted)].join("\n"),
    exitCodes.faultyRows,
    { faults: sorted },
  );
}

/** Parses an option that is a whole number. */
export const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  return value;
};
