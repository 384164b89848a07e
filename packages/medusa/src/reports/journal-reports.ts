import type { Days, PaymentQuery, ReconcileOptions } from "@giftcard-pay/checkout/operator";
import { type ReportSource, readReconciliation, readStatement, type Sql } from "@giftcard-pay/checkout/plugin";
import { readOrderNames } from "../medusa-tables/orders.js";
import { readCancelRefunds, readGiftcardPayments } from "../medusa-tables/payments.js";

/** The source of a report: the journal and Medusa's own tables, in one database. */
export interface ReportContext extends ReportSource {
  readonly sql: Sql;
}

/** Reads the statement. @throws {RangeError} for invalid days */
export async function readMedusaStatement(context: ReportContext, days: Days) {
  const findCancelRefunds = (refundIds: readonly string[]) => readCancelRefunds(context.sql, refundIds);
  const statement = await readStatement(context, { ...days, findCancelRefunds });
  return { ...statement, orderNames: await readOrderNames(context.sql, statement.lines) };
}

/**
 * Compares the journal with Medusa's payments and, if given, the service's report.
 * @param options.report the output of the service's `report` command with `--json` or `--csv`: its text, or a
 *   file's stream
 * @throws {RangeError} for invalid days
 * @throws {ReportError} for a report that can't be read, or covers other days
 */
export async function readMedusaReconciliation(
  context: ReportContext,
  options: Days & Pick<ReconcileOptions, "report">,
) {
  const payments = (query: PaymentQuery) => readGiftcardPayments(context.sql, query);
  const result = await readReconciliation(context, { ...options, payments });
  return { ...result, orderNames: await readOrderNames(context.sql, result.differences) };
}
