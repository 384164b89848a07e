import { InvalidArgumentError } from "commander";

/** The largest id that PostgreSQL's integer can hold. */
const MAX_ID = 2_147_483_647;
const PROGRESS_EVERY_MS = 1000;

/** The output of a command: text for people, or exactly one JSON value. */
export interface Output {
  /** Prints the answer. Secrets are printed only here. */
  result(value: unknown, text: string): void;
  warn(message: string): void;
  /** Creates a function that prints progress each second, if the work takes longer than a second. */
  progress(what: string): (done: number, total?: number) => void;
}

export const warn = (message: string): void => void process.stderr.write(`warning: ${message}\n`);

/** Creates the output: answers on standard output, warnings and progress on standard error. */
export function outputOf(json: boolean): Output {
  let printedAtMs = performance.now();
  return {
    progress: (what) => (done, total) => {
      if (performance.now() - printedAtMs < PROGRESS_EVERY_MS) return;
      printedAtMs = performance.now();
      process.stderr.write(`${done}${total === undefined ? "" : ` of ${total}`} ${what}\n`);
    },
    result: (value, text) => process.stdout.write(`${json ? JSON.stringify(value) : text}\n`),
    warn,
  };
}

/** Prints a long answer in pieces. Stops silently if the reader closes the pipe, as `head` does. */
export async function print(work: (write: (text: string) => Promise<void>) => Promise<void>): Promise<void> {
  try {
    await work(write);
  } catch (error) {
    if ((error as { code?: string }).code !== "EPIPE") throw error;
  }
}

/** Writes text and waits until it is read, so that nothing accumulates in memory. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

// Each write reports its own error.
process.stdout.on("error", () => {});

export const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  return value;
};

/** Parses an option that is an amount in whole cents. */
export const wholeCents = (max: number) => (text: string) => {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) throw new InvalidArgumentError(`Give whole cents from 0 to ${max}: 25.00 is 2500.`);
  return value;
};

export const isIdentifier = (text: string): boolean =>
  /^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_ID;

export const identifier = wholeNumber(1, MAX_ID);

/** Returns whether a text is an existing day, yyyy-mm-dd. */
export function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  const real = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime());
  return real && date.toISOString().slice(0, 10) === text && text >= "1900-01-01";
}

export function day(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError("Give an existing date, yyyy-mm-dd.");
  return text;
}

/** Characters that forge lines or control a terminal: control characters, line separators, and changes of direction. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** Returns whether a text prints as one line, and as it is. */
export const isPrintable = (text: string): boolean => !UNPRINTABLE.test(text);

export const textOption = (maxLength: number) => (text: string) => {
  const value = text.trim();
  if (!isPrintable(value)) throw new InvalidArgumentError("Give one line of text without control characters.");
  if (value === "" || value.length > maxLength) throw new InvalidArgumentError(`Give 1 to ${maxLength} characters.`);
  return value;
};
