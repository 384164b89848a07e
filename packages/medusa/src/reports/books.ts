import {
  type Books,
  type Days,
  type PaymentQuery,
  type Reconciliation,
  type RunSql,
  readReconciliation,
  readStatement,
  type ShopPayment,
  type Statement,
} from "@giftcard-pay/checkout";
import { PROVIDER_ID } from "../names.js";

/** The journal beside Medusa's own books, in one database. */
export interface MedusaBooks extends Books {
  /** Runs one statement on Medusa's database. */
  readonly run: RunSql;
}

/** What people call the orders that a report names, `#12`, by id. */
interface OrderNames {
  readonly orderNames: Record<string, string>;
}

/** Adds up what was devalued and cancelled. @throws {RangeError} for days or a commission that are none */
export async function readMedusaStatement(
  books: MedusaBooks,
  options: Days & { commissionPercent?: number | undefined },
): Promise<Statement & OrderNames> {
  const statement = await readStatement(books, options);
  const orderIds = statement.lines.flatMap(({ orderId }) => orderId ?? []);
  return { ...statement, orderNames: await readOrderNames(books.run, orderIds) };
}

/**
 * Holds the journal against Medusa's payments and, where it is given, the service's report.
 *
 * @param options.report what the service's `report` command printed with `--json` or `--csv`
 * @throws {RangeError} for days that are none
 * @throws {ReportError} for a report that can't be read, or is about other days
 */
export async function readMedusaReconciliation(
  books: MedusaBooks,
  options: Days & { report?: string | undefined },
): Promise<Reconciliation & OrderNames> {
  const payments = (query: PaymentQuery) => readPayments(books.run, query);
  const result = await readReconciliation(books, { ...options, payments });
  const orderIds = result.differences.flatMap(({ orderId }) => orderId ?? []);
  return { ...result, orderNames: await readOrderNames(books.run, orderIds) };
}

/** Medusa's gift card payments, one for each charge. */
async function readPayments(run: RunSql, { from, to, externalIds }: PaymentQuery): Promise<ShopPayment[]> {
  const sum = (table: string) =>
    `(select coalesce(sum(amount), 0) from ${table} where payment_id = p.id and deleted_at is null)`;
  const rows = await run(
    `select p.id, p.payment_session_id as external_id, link.order_id, p.canceled_at is not null as is_canceled,
       round(p.amount * 100)::integer as amount_cents, round(${sum("capture")} * 100)::integer as captured_cents,
       round(${sum("refund")} * 100)::integer as refunded_cents
     from payment p left join order_payment_collection link
       on link.payment_collection_id = p.payment_collection_id and link.deleted_at is null
     where p.provider_id = $1 and p.deleted_at is null
       and (p.payment_session_id = any($2::text[]) or (p.created_at >= $3 and p.created_at < $4))
     order by p.created_at, p.id`,
    [PROVIDER_ID, externalIds, from, to],
  );
  return rows.map((row) => ({
    id: String(row.id),
    externalId: String(row.external_id),
    orderId: row.order_id as string | null,
    amountCents: Number(row.amount_cents),
    capturedCents: Number(row.captured_cents),
    refundedCents: Number(row.refunded_cents),
    isCanceled: row.is_canceled as boolean,
  }));
}

/** What people call these orders, `#12`, by id. */
export async function readOrderNames(
  run: RunSql,
  orderIds: readonly string[],
): Promise<Record<string, string>> {
  if (orderIds.length === 0) return {};
  const rows = await run(`select id, display_id from "order" where id = any($1::text[])`, [
    [...new Set(orderIds)],
  ]);
  return Object.fromEntries(rows.map((row) => [String(row.id), `#${row.display_id}`]));
}
