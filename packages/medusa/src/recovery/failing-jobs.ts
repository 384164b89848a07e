import { CheckoutError } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { MedusaError } from "@medusajs/framework/utils";
import { FAILING_CHARGES } from "../journal-tables/charges.js";

/**
 * What recovery does, by kind: it notes orders as paid, cancels orders that nobody paid, reverses what a canceled or
 * deleted order holds, releases payments of carts without an order, ends credit lines that were begun, writes captures and refunds into their order, shows
 * refunds of which nobody knows whether they were made, closes carts that look open, opens those that look ordered, and scans for all of this.
 */
export const jobKinds = [
  "note_paid",
  "cancel_order",
  "reverse",
  "release_payment",
  "credit_line",
  "record_payment",
  "unknown_refund",
  "close_cart",
  "open_cart",
  "scan",
] as const;
export type JobKind = (typeof jobKinds)[number];

/** Which job: its kind, and what it is about: an order, a charge, a capture or refund, a cart, or a kind. */
export interface JobKey {
  readonly kind: JobKind;
  readonly id: string;
  readonly orderId: string | null;
  /** The cart that it is about, where there is no order. */
  readonly cartId?: string | null;
}

/** A job that failed each time that it was tried. */
export interface FailingJob extends JobKey {
  readonly tries: number;
  /** A code, or Medusa's own words. */
  readonly lastError: string;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
}

const LONGEST_TEXT = 300;

/** Why something failed, in words that hold nothing secret: Medusa's own text, or names and codes alone. */
export function faultOf(error: unknown): string {
  if (error instanceof CheckoutError) return error.code;
  const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
  if (MedusaError.isMedusaError(error)) return String(message).slice(0, LONGEST_TEXT);
  const fault = [name, code].filter((part) => typeof part === "string" && part !== "").join(" ");
  return fault === "" ? "unknown" : fault.slice(0, LONGEST_TEXT);
}

/** Writes down that a job failed once more. */
export async function noteFailure(
  sql: Sql,
  { kind, id, orderId, cartId = null }: JobKey,
  error: unknown,
): Promise<void> {
  await sql(
    `insert into giftcard_job as known (kind, id, order_id, cart_id, last_error) values ($1, $2, $3, $4, $5)
     on conflict (kind, id) do update set tries = known.tries + 1, last_error = excluded.last_error,
       last_failed_at = now()`,
    [kind, id, orderId, cartId, faultOf(error)],
  );
}

/** The job is done, or there is nothing to do any more. */
export async function forgetJob(sql: Sql, { kind, id }: Pick<JobKey, "kind" | "id">): Promise<void> {
  await sql("delete from giftcard_job where kind = $1 and id = $2 and kept_at is null", [kind, id]);
}

/** Of the failing jobs of a kind, those that weren't found again are done. */
export async function forgetOthers(sql: Sql, kind: JobKind, foundIds: readonly string[]): Promise<void> {
  await sql("delete from giftcard_job where kind = $1 and kept_at is null and id <> all($2::text[])", [
    kind,
    foundIds,
  ]);
}

/** The ids of a kind's jobs that a person has decided to leave as they are. */
export async function readKeptJobs(sql: Sql, kind: JobKind): Promise<Set<string>> {
  const rows = await sql("select id from giftcard_job where kind = $1 and kept_at is not null", [kind]);
  return new Set(rows.map((row) => String(row.id)));
}

/**
 * A person's decision that a failing job isn't tried any more.
 *
 * @param actor who decided, as it is written down
 * @returns false when there is no such job (any more)
 */
export async function keepJob(
  sql: Sql,
  { kind, id }: Pick<JobKey, "kind" | "id">,
  actor: string,
): Promise<boolean> {
  const rows = await sql(
    "update giftcard_job set kept_by = $3, kept_at = now() where kind = $1 and id = $2 and kept_at is null returning 1",
    [kind, id, actor],
  );
  return rows.length === 1;
}

/** Something that fails again and again: a job of recovery, or a charge that the money flow itself tries to end. */
export type Failing = Omit<FailingJob, "kind"> & { readonly kind: JobKind | "reversal" | "outcome" };

const FAILING = `
  select kind, id, order_id, tries, last_error, first_failed_at, last_failed_at from giftcard_job where kept_at is null
  union all
  ${FAILING_CHARGES}`;

/** What fails again and again: the jobs of recovery before the charges, and the oldest of each first. */
export async function listFailing(
  sql: Sql,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ jobs: Failing[]; count: number }> {
  const rows = await sql(
    `select * from (${FAILING}) failing
     order by kind in ('reversal', 'outcome'), first_failed_at, kind, id limit $1 offset $2`,
    [limit, offset],
  );
  const [counted] = await sql(`select count(*) from (${FAILING}) failing`, []);
  return { jobs: rows.map(toFailing), count: Number(counted?.count) };
}

/** How many jobs of recovery fail, without the charges, which are counted by their states. */
export async function countFailingJobs(sql: Sql): Promise<number> {
  const [counted] = await sql("select count(*) from giftcard_job where kept_at is null", []);
  return Number(counted?.count);
}

/** One failing job, or null when there is none (any more). */
export async function readJob(sql: Sql, kind: JobKind, id: string): Promise<FailingJob | null> {
  const statement = "select * from giftcard_job where kind = $1 and id = $2 and kept_at is null";
  const [row] = await sql(statement, [kind, id]);
  return row ? { ...toFailing(row), kind, cartId: row.cart_id as string | null } : null;
}

const toFailing = (row: Record<string, unknown>): Failing => ({
  kind: row.kind as Failing["kind"],
  id: String(row.id),
  orderId: row.order_id as string | null,
  tries: Number(row.tries),
  lastError: String(row.last_error),
  firstFailedAt: new Date(row.first_failed_at as string),
  lastFailedAt: new Date(row.last_failed_at as string),
});
