import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Days, daysOfMonth } from "@giftcard-pay/checkout/operator";
import type { Command } from "commander";
import { type DatevSettings, datevSchema } from "../datev-settings.js";
import { type BooksTotals, openBookkeeping } from "../reports/bookkeeping.js";
import { writeBooksCsv } from "../reports/bookkeeping-csv.js";
import { booksText, readBooks } from "../reports/books-report.js";
import { obstacleText, whyNoDatev, writeDatev } from "../reports/datev.js";
import type { BookedSource } from "../reports/read-movements.js";
import { CommandFailure } from "./failure.js";
import { progressEachSecond } from "./progress.js";
import { type ShopContext, type ShopOptions, shopCommand, withShop } from "./shop.js";

interface BooksOptions extends ShopOptions {
  month?: string;
  from?: string;
  to?: string;
  csv?: boolean;
  datev?: boolean;
  datevSettings?: string;
  output?: string;
}

const HELP = `
Prints totals, or writes one of these files. Each order's sale counts on the day on which it was placed, and a refund on the
day on which it was refunded. The totals are compared with the statement and with Medusa's own totals. Exits with 1 if
there is any difference.

  --csv    comma-separated values: each sale, change, refund, cancellation and payment, with VAT by rate and what each
           method paid
  --datev  a DATEV file (EXTF, Buchungsstapel), with the accounts of the option datev, or of --datev-settings`;

/** `giftcard-medusa books`: exports a month for the books. */
export function booksCommand(): Command {
  return shopCommand("books", "Export a month for the books: VAT by rate, and what each method paid")
    .option("--month <yyyy-mm>", "the month, by the clock in Amsterdam")
    .option("--from <yyyy-mm-dd>", "instead of a month: the first day")
    .option("--to <yyyy-mm-dd>", "and the last day, which counts in full")
    .option("--csv", "write comma-separated values, amounts in euro")
    .option("--datev", "write a DATEV file")
    .option("--datev-settings <file>", "a JSON file with the option datev, instead of the shop's configuration")
    .option("--output <file>", "the file to write, which must not exist (default: standard output)")
    .addHelpText("after", HELP)
    .action(async (options: BooksOptions) => {
      const days = readDays(options);
      const totals = await withShop(options, (shop) => exportBooks(shop, days, options)).catch((error: unknown) => {
        throw error instanceof RangeError ? new CommandFailure(error.message, 2) : error;
      });
      if (!totals.reconciles) process.exitCode = 1;
    });
}

function readDays({ month, from, to, csv, datev, json }: BooksOptions): Days {
  if ([csv, datev, json].filter(Boolean).length > 1)
    throw new CommandFailure("Give --json, --csv or --datev, only one.", 2);
  if (month !== undefined && from === undefined && to === undefined) {
    try {
      return daysOfMonth(month);
    } catch (error) {
      throw new CommandFailure((error as Error).message, 2);
    }
  }
  if (month === undefined && from !== undefined && to !== undefined) return { from, to };
  throw new CommandFailure("Give --month, or --from and --to.", 2);
}

async function exportBooks({ sql, journal, configured }: ShopContext, days: Days, options: BooksOptions) {
  const source: BookedSource = { sql, journal };
  const settings = await readSettings(options, configured.datev);
  const report = progressEachSecond();
  const onProgress = (read: number, all: number) => report(`${read} of ${all} orders read`);
  if (!options.csv && !options.datev) {
    const books = await readBooks(source, days, settings, onProgress);
    await write(options, [options.json ? `${JSON.stringify(books)}\n` : booksText(books)]);
    return books;
  }
  const bookkeeping = await openBookkeeping(source, days, onProgress);
  let totals: BooksTotals | undefined;
  const onTotals = (read: BooksTotals) => {
    totals = read;
  };
  const why = options.datev ? whyNoDatev(bookkeeping, settings) : null;
  if (why !== null) throw new CommandFailure(obstacleText(why), 2);
  const content = options.datev ? writeDatev(bookkeeping, settings, onTotals) : writeBooksCsv(bookkeeping, onTotals);
  await write(options, content);
  if (!totals) throw new TypeError("An export has no totals.");
  process.stderr.write(booksText(totals));
  return totals;
}

async function readSettings(
  { datevSettings: file }: BooksOptions,
  configured: unknown,
): Promise<DatevSettings | undefined> {
  const given = file === undefined ? configured : await readJson(file);
  if (given === undefined) return undefined;
  const { success, data, error } = datevSchema.safeParse(given);
  if (success) return data;
  const names = error.issues.map(({ path }) => path.join(".") || "datev");
  throw new CommandFailure(`These settings of datev are wrong: ${[...new Set(names)].join(", ")}.`, 2);
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    const { code, name } = error as { code?: string; name: string };
    throw new CommandFailure(`The file of --datev-settings can't be read (${code ?? name}).`, 2);
  }
}

async function write(
  { output }: BooksOptions,
  content: AsyncIterable<string | Buffer> | Iterable<string>,
): Promise<void> {
  if (output === undefined) return pipeline(content, process.stdout, { end: false });
  await pipeline(content, createWriteStream(output, { flags: "wx", mode: 0o600 })).catch((error: { code?: string }) => {
    if (error instanceof RangeError || !error.code) throw error;
    throw new CommandFailure(`The output can't be written (${error.code}).`);
  });
}
