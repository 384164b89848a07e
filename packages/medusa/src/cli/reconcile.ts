import { readFile } from "node:fs/promises";
import { type Difference, ReportError } from "@giftcard-pay/checkout";
import { formatCents } from "@giftcard-pay/client";
import type { Command } from "commander";
import { readReconciliation } from "../reports/books.js";
import { CommandFailure } from "./failure.js";
import { withShop } from "./shop.js";
import { type BookOptions, bookCommand, layOut, openBooks } from "./shop-books.js";

interface ReconcileOptions extends BookOptions {
  from: string;
  to: string;
  report?: string;
}

const HELP = `
Each difference is a line with both sides; with one or more it ends with 1.

  undecided        it isn't known whether money is off the card
  payment_missing  money is off a card, and Medusa has no payment for it
  attempt_missing  Medusa has a gift card payment of which the journal knows nothing
  held             the two disagree about what is off the card
  captured         the two disagree about whether the payment is final
  service          the service has other figures for a card`;

/** `giftcard-medusa reconcile`: the journal against Medusa's payments and the service's report. */
export function reconcileCommand(): Command {
  return bookCommand("reconcile", "Hold the journal against Medusa's payments, and the service's report")
    .requiredOption("--from <yyyy-mm-dd>", "the first day, by the clock in Amsterdam")
    .requiredOption("--to <yyyy-mm-dd>", "the last day, which counts in full")
    .option("--report <file>", "what giftcard-service report --json (or --csv) printed for the same days")
    .addHelpText("after", HELP)
    .action(async (options: ReconcileOptions) => {
      const { from, to } = options;
      const report = options.report === undefined ? undefined : await readReport(options.report);
      const result = await withShop(options, async (desk) =>
        readReconciliation(await openBooks(desk, options), { from, to, report }),
      ).catch((error: unknown) => {
        const isUsage = error instanceof RangeError || error instanceof ReportError;
        throw isUsage ? new CommandFailure(error.message, 2) : error;
      });
      const { differences, orderNames } = result;
      process.stdout.write(
        options.json ? `${JSON.stringify(result)}\n` : `${tableOf(differences, orderNames)}`,
      );
      if (!options.json) process.stdout.write(`${summaryOf(result)}\n`);
      if (differences.length > 0) process.exitCode = 1;
    });
}

const readReport = (file: string): Promise<string> =>
  readFile(file, "utf8").catch((error: { code?: string }) => {
    throw new CommandFailure(`The report can't be read (${error.code}).`, 2);
  });

function tableOf(differences: readonly Difference[], orderNames: Record<string, string>): string {
  if (differences.length === 0) return "";
  const amount = (cents: number | null) => (cents === null ? "?" : formatCents(cents));
  const rows = differences.map(({ kind, reference, orderId, lastFour, journal, other }) => [
    kind,
    lastFour === null ? "" : `…${lastFour}`,
    orderId === null ? "" : (orderNames[orderId] ?? orderId),
    reference ?? "",
    `journal: ${amount(journal.cents)} (${journal.says})`,
    `${other.who}: ${amount(other.cents)} (${other.says})`,
  ]);
  return `${layOut(rows)}\n`;
}

function summaryOf({
  from,
  to,
  attempts,
  payments,
  cards,
  differences,
}: Awaited<ReturnType<typeof readReconciliation>>) {
  const compared = `${attempts} charges, ${payments} payments${cards === null ? "" : `, ${cards} cards of the report`}`;
  const count = differences.length;
  return `${from} to ${to}: ${compared}; ${count === 0 ? "no difference" : `${count} difference${count === 1 ? "" : "s"}`}`;
}
