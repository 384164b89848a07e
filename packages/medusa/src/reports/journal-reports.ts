import type { Days, PaymentQuery, ReconcileOptions, Reconciliation, Statement } from "@giftcard-pay/checkout";
import {
  type ReportSource,
  readReconciliation,
  readStatement,
  type Sql,
} from "@giftcard-pay/checkout/plugin";
import { readOrderNames } from "../medusa-tables/orders.js";
import { readGiftcardPayments } from "../medusa-tables/payments.js";

/** What a report is made of: the journal beside Medusa's own tables, in one database. */
export interface ReportContext extends ReportSource {
  /** Runs one statement on Medusa's database. */
  readonly sql: Sql;
}

/** What people call the orders that a report names, `#12`, by id. */
interface OrderNames {
  readonly orderNames: Record<string, string>;
}

/** Adds up what was devalued and canceled. @throws {RangeError} for days or a commission that are none */
export async function readMedusaStatement(
  context: ReportContext,
  options: Days & { commissionPercent?: number | undefined },
): Promise<Statement & OrderNames> {
  const statement = await readStatement(context, options);
  const orderIds = statement.lines.flatMap(({ orderId }) => orderId ?? []);
  return { ...statement, orderNames: await readOrderNames(context.sql, orderIds) };
}

/**
 * Holds the journal against Medusa's payments and, where it is given, the service's report.
 *
 * @param options.report what the service's `report` command printed with `--json` or `--csv`: its text, or a file's stream
 * @param options.onProgress is told how many of each kind were read so far
 * @throws {RangeError} for days that are none
 * @throws {ReportError} for a report that can't be read, or is about other days
 */
export async function readMedusaReconciliation(
  context: ReportContext,
  options: Days & Pick<ReconcileOptions, "report" | "onProgress">,
): Promise<Reconciliation & OrderNames> {
  const payments = (query: PaymentQuery) => readGiftcardPayments(context.sql, query);
  const result = await readReconciliation(context, { ...options, payments });
  const orderIds = result.differences.flatMap(({ orderId }) => orderId ?? []);
  return { ...result, orderNames: await readOrderNames(context.sql, orderIds) };
}
