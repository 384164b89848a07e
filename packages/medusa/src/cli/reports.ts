import { createReadStream } from "node:fs";
import { daysOfMonth, reconciliationText, statementCsv, statementText } from "@giftcard-pay/checkout/operator";
import type { Command } from "commander";
import { readMedusaReconciliation, readMedusaStatement } from "../reports/journal-reports.js";
import { CommandFailure } from "./failure.js";
import { openReports, type ReportOptions, reportCommand, withShop } from "./shop.js";

interface ReconcileOptions extends ReportOptions {
  from: string;
  to: string;
  report?: string;
}

const HELP = `
Each difference is a line with both sides. Exits with 1 if there is any. Charges that are just being charged or reversed
are counted as in progress, and compared the next time.

  undecided        it isn't known whether money is off the card
  payment_missing  money is off a card, and Medusa has no payment for it
  charge_missing   Medusa has a gift card payment of which the journal knows nothing
  held             the two disagree about what is off the card
  captured         the two disagree about whether the payment is final
  service          the service has other figures for a card`;

export function reconcileCommand(): Command {
  return reportCommand("reconcile", "Compare the journal with Medusa's payments and the service's report")
    .requiredOption("--from <yyyy-mm-dd>", "the first day, by the clock in Amsterdam")
    .requiredOption("--to <yyyy-mm-dd>", "the last day, which counts in full")
    .option("--report <file>", "the output of giftcard-service report --json (or --csv) for the same days")
    .addHelpText("after", HELP)
    .action(async (options: ReconcileOptions) => {
      const { from, to } = options;
      const report = options.report === undefined ? undefined : readReport(options.report);
      const result = await withShop(options, async (shop) =>
        readMedusaReconciliation(await openReports(shop, options), { from, to, report }),
      );
      const text = options.json
        ? `${JSON.stringify(result)}\n`
        : reconciliationText(result, (orderId) => result.orderNames[orderId] ?? orderId);
      process.stdout.write(text);
      if (result.differences.length > 0) process.exitCode = 1;
    });
}

/** Streams the file, since a busy month's report is large. */
async function* readReport(file: string): AsyncGenerator<string> {
  try {
    for await (const chunk of createReadStream(file, "utf8")) yield String(chunk);
  } catch (error) {
    throw new CommandFailure(`The report can't be read (${(error as { code?: string }).code}).`, 2);
  }
}

interface StatementOptions extends ReportOptions {
  month: string;
  csv?: boolean;
}

export function statementCommand(): Command {
  return reportCommand("statement", "Add up what was charged, canceled and refunded in a month, by day and order")
    .requiredOption("--month <yyyy-mm>", "the month, by the clock in Amsterdam")
    .option("--csv", "print comma-separated values, amounts in euro")
    .action(async (options: StatementOptions) => {
      if (options.csv && options.json) throw new CommandFailure("Give --json or --csv, not both.", 2);
      const statement = await withShop(options, async (shop) =>
        readMedusaStatement(await openReports(shop, options), daysOfMonth(options.month)),
      );
      const nameOf = (orderId: string) => statement.orderNames[orderId] ?? orderId;
      if (options.json) process.stdout.write(`${JSON.stringify(statement)}\n`);
      else process.stdout.write(options.csv ? statementCsv(statement, nameOf) : statementText(statement, nameOf));
    });
}
