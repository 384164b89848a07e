import { InvalidArgumentError } from "commander";

/** The table of companies has no greater one. */
const MAX_ID = 2_147_483_647;
const PROGRESS_EVERY_MS = 1000;

/** A spreadsheet must not take a name for a formula. */
export const csvCell = (value: string | number | null) =>
  typeof value === "string"
    ? `"${value.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`
    : String(value ?? "");

/** Where a command's answer goes: the text for people, or exactly one JSON value. */
export interface Output {
  /** The answer; secrets among it are shown here and nowhere else. */
  result(value: unknown, text: string): void;
  warn(message: string): void;
  /**
   * Tells how far work has come, once it takes longer than a second, and then each second.
   *
   * @param total undefined while nobody knows it
   */
  progress(done: number, total: number | undefined, what: string): void;
}

/** Prints on standard output; warnings and progress go to standard error. */
export function outputOf(json: boolean): Output {
  let toldAtMs = performance.now();
  return {
    progress(done, total, what) {
      if (performance.now() - toldAtMs < PROGRESS_EVERY_MS) return;
      toldAtMs = performance.now();
      process.stderr.write(`${done}${total === undefined ? "" : ` of ${total}`} ${what}\n`);
    },
    result: (value, text) => process.stdout.write(`${json ? JSON.stringify(value) : text}\n`),
    warn: (message) => process.stderr.write(`warning: ${message}\n`),
  };
}

/** Prints what is too long to be held as a whole. A reader who has seen enough, as `head`, ends it without a word. */
export async function print(work: (write: (text: string) => Promise<void>) => Promise<void>): Promise<void> {
  try {
    await work(write);
  } catch (error) {
    if ((error as { code?: string }).code !== "EPIPE") throw error;
  }
}

/** Waits until it is taken: nothing piles up before a slow reader. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

// Each write hears of it by itself.
process.stdout.on("error", () => {});

/** Parses an option that is a whole number. */
export const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  return value;
};

/** Parses an option that is an amount. Who thinks of euros is told, not believed. */
export const wholeCents = (max: number) => (text: string) => {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) throw new InvalidArgumentError(`Give whole cents from 0 to ${max}: 25.00 is 2500.`);
  return value;
};

/** Parses an option that is the id of a card, a batch, a company or a key. */
export const identifier = wholeNumber(1, MAX_ID);

/** Whether a text is a day that exists, yyyy-mm-dd. */
export function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  const real = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime());
  return real && date.toISOString().slice(0, 10) === text && text >= "1900-01-01";
}

/** Parses an option that is a day. */
export function day(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError("Give a date that exists, yyyy-mm-dd.");
  return text;
}

/** Parses an option that is text of some length. */
export const textOption = (maxLength: number) => (text: string) => {
  const value = text.trim();
  if (value === "" || value.length > maxLength)
    throw new InvalidArgumentError(`Give 1 to ${maxLength} characters.`);
  return value;
};
