import { daysOfMonth, statementCsv, statementText } from "@giftcard-pay/checkout/operator";
import type { Command } from "commander";
import { readMedusaStatement } from "../reports/journal-reports.js";
import { CommandFailure } from "./failure.js";
import { openReports, type ReportOptions, reportCommand, withShop } from "./shop.js";

interface StatementOptions extends ReportOptions {
  month: string;
  commission?: string;
  csv?: boolean;
}

/** `giftcard-medusa statement`: adds up what a merchant compares with the issuer's invoice. */
export function statementCommand(): Command {
  return reportCommand("statement", "Add up what was charged, canceled and refunded in a month, by day and order")
    .requiredOption("--month <yyyy-mm>", "the month, by the clock in Amsterdam")
    .option("--commission <percent>", "what the issuer keeps of the gross sum")
    .option("--csv", "print comma-separated values, amounts in euro")
    .action(async (options: StatementOptions) => {
      if (options.csv && options.json) throw new CommandFailure("Give --json or --csv, not both.", 2);
      const statement = await withShop(options, async (shop) => {
        const commissionPercent = options.commission === undefined ? 0 : Number(options.commission);
        const context = await openReports(shop, options);
        return readMedusaStatement(context, { ...daysOfMonth(options.month), commissionPercent });
      }).catch((error: unknown) => {
        throw error instanceof RangeError ? new CommandFailure(error.message, 2) : error;
      });
      const nameOf = (orderId: string) => statement.orderNames[orderId] ?? orderId;
      if (options.json) process.stdout.write(`${JSON.stringify(statement)}\n`);
      else process.stdout.write(options.csv ? statementCsv(statement, nameOf) : statementText(statement, nameOf));
    });
}
