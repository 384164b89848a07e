import { InvalidArgumentError } from "commander";
import { type EventFault, type FileReading, inOrder, type Reading } from "../check.js";

const SHOWN_FAULTS = 100;

/** The exit codes. `--help` prints their meaning. */
export const exitCodes = { done: 0, failed: 1, usage: 2, faultyRows: 3, unanswered: 4 } as const;

/** A failure whose message tells the user what to do. It contains no secret. */
export class Failure extends Error {
  /** @param details further properties of the JSON output */
  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failed,
    readonly details: object = {},
  ) {
    super(message);
  }
}

/** Prints a result to standard output. */
export const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Prints a notice to standard error. */
export const tell = (text: string): void => void process.stderr.write(`${text}\n`);

/** Replaces control characters, which a terminal would obey. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ");

/** Formats faults, one per line, with row, field and the text that was read. */
export function faultLines(faults: readonly EventFault[], omitted = 0): string[] {
  const lines = faults.slice(0, SHOWN_FAULTS).map(({ row, field, message, read }) => {
    const place = field ? `row ${row}, ${field}` : `row ${row}`;
    return printable(`  ${place}: ${read === undefined ? "" : `"${read}" `}${message}`);
  });
  const more = faults.length - lines.length + omitted;
  return more > 0 ? [...lines, `  and ${more} more`] : lines;
}

/** Prints the parts of a file that were ignored, and assumptions. */
export function tellNotices(file: string, { notices }: FileReading): void {
  if (notices.length > 0) tell([`${file}:`, ...faultLines(notices)].join("\n"));
}

/** Returns the failure of a file with faults; undefined if there are none. */
export function faultyFile(file: string, { faults, omittedFaults = 0 }: Reading, advice: string): Failure | undefined {
  if (faults.length === 0) return undefined;
  const sorted = inOrder(faults);
  const lines = [`${file} has faults; ${advice}`, ...faultLines(sorted, omittedFaults)];
  return new Failure(lines.join("\n"), exitCodes.faultyRows, {
    faults: sorted,
    ...(omittedFaults > 0 && { omitted_faults: omittedFaults }),
  });
}

/** Creates the parser of an option that is a whole number. */
export const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  return value;
};
