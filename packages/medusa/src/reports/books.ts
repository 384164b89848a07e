import {
  type Attempt,
  type AttemptFilter,
  type Days,
  type Journal,
  makeStatement,
  momentsOf,
  type Reconciliation,
  type RunSql,
  readServiceReport,
  reconcile,
  type ShopPayment,
  type Statement,
} from "@giftcard-pay/checkout";
import { PROVIDER_ID } from "../names.js";

const PAGE = 500;

/** Where the shop's books stand, and which service's money they are about. */
export interface Books {
  /** Runs one statement on Medusa's database. */
  readonly run: RunSql;
  readonly journal: Journal;
  readonly environment: "live" | "sandbox";
  readonly companyId: number;
}

/** Adds up what was devalued and cancelled. @throws {RangeError} for days or a commission that are none */
export async function readStatement(
  books: Books,
  options: Days & { commissionPercent?: number | undefined },
): Promise<Statement & { orderNames: Record<string, string> }> {
  const moved = momentsOf(options);
  const attempts = await listAll(books, { moved });
  const statement = makeStatement(attempts, options);
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
export async function readReconciliation(
  books: Books,
  { from, to, report }: Days & { report?: string | undefined },
): Promise<Reconciliation & { orderNames: Record<string, string> }> {
  const moved = momentsOf({ from, to });
  const cards =
    report === undefined ? undefined : readServiceReport(report, { from, to, companyId: books.companyId });
  const open = { states: ["reversing", "unknown", "needs_attention"], to: moved.to } as const;
  const listed = [...(await listAll(books, { moved })), ...(await listAll(books, open))];
  const attempts = [...new Map(listed.map((attempt) => [attempt.reference, attempt])).values()];
  const payments = await readPayments(books, attempts, moved);
  // A payment made within the period may belong to a charge that began before it.
  const known = new Set(attempts.map((attempt) => attempt.externalId));
  for (const { externalId } of payments) {
    const attempt = known.has(externalId) ? null : await books.journal.attemptByExternalId(externalId);
    if (attempt) attempts.push(attempt);
  }
  const result = reconcile({ from, to, attempts, payments, report: cards });
  const orderIds = result.differences.flatMap(({ orderId }) => orderId ?? []);
  return { ...result, orderNames: await readOrderNames(books.run, orderIds) };
}

async function listAll({ journal, environment }: Books, filter: AttemptFilter): Promise<Attempt[]> {
  const all: Attempt[] = [];
  for (;;) {
    const page = { ...filter, environment, limit: PAGE, offset: all.length };
    const { attempts, count } = await journal.list(page);
    all.push(...attempts);
    if (attempts.length === 0 || all.length >= count) return all;
  }
}

/** Medusa's gift card payments: of these attempts, and all that were made within the period for the same service. */
async function readPayments(
  { run, environment }: Books,
  attempts: readonly Attempt[],
  moved: { from: Date; to: Date },
): Promise<ShopPayment[]> {
  const sum = (table: string) =>
    `(select coalesce(sum(amount), 0) from ${table} where payment_id = p.id and deleted_at is null)`;
  const rows = await run(
    `select p.id, p.payment_session_id as external_id, link.order_id, p.canceled_at is not null as is_canceled,
       round(p.amount * 100)::integer as amount_cents, round(${sum("capture")} * 100)::integer as captured_cents,
       round(${sum("refund")} * 100)::integer as refunded_cents
     from payment p
       left join giftcard_attempt a on a.external_id = p.payment_session_id
       left join order_payment_collection link
         on link.payment_collection_id = p.payment_collection_id and link.deleted_at is null
     where p.provider_id = $1 and p.deleted_at is null and (a.environment is null or a.environment = $2)
       and (p.payment_session_id = any($3::text[]) or (p.created_at >= $4 and p.created_at < $5))
     order by p.created_at, p.id`,
    [PROVIDER_ID, environment, attempts.map(({ externalId }) => externalId), moved.from, moved.to],
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
