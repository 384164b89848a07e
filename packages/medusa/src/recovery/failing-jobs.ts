import { CheckoutError } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { MedusaError } from "@medusajs/framework/utils";
import { reasonsOf } from "../errors.js";
import { hasRows, readCount, readRow, readRows, readTexts } from "../rows.js";
import type { Reason } from "../sentences.js";

/** The kinds of recovery's jobs. docs/on-call.md explains each. */
export const jobKinds = [
  "note_paid",
  "cancel_order",
  "reverse",
  "release_payment",
  "credit_line",
  "record_payment",
  "capture",
  "unknown_refund",
  "close_cart",
  "open_cart",
  "scan",
] as const;
export type JobKind = (typeof jobKinds)[number];

/** A job: its kind, and the id of its order, charge, capture, refund or cart, or the name of a scan. */
export interface JobKey {
  readonly kind: JobKind;
  readonly id: string;
  readonly orderId: string | null;
  readonly cartId?: string | null;
}

/** A job that failed each time it was tried. */
export interface FailingJob extends JobKey {
  readonly tries: number;
  readonly lastError: string;
  /** Why only a person can continue it; null if it failed for another cause. */
  readonly why: readonly Reason[] | null;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
}

const LONGEST_TEXT = 300;

/** Describes a failure without secrets: Medusa's own message, or names and codes alone. */
export function faultOf(error: unknown): string {
  if (error instanceof CheckoutError) return error.code;
  const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
  if (MedusaError.isMedusaError(error)) return String(message).slice(0, LONGEST_TEXT);
  const fault = [name, code].filter((part) => typeof part === "string" && part !== "").join(" ");
  return fault === "" ? "unknown" : fault.slice(0, LONGEST_TEXT);
}

/** Describes a failure without the full stop at its end. */
export const sentenceOf = (failure: unknown): string => faultOf(failure).replace(/\.$/, "");

/** Records that a job failed. @returns false if it failed with the same error before */
export async function noteFailure(
  sql: Sql,
  { kind, id, orderId, cartId = null }: JobKey,
  error: unknown,
): Promise<boolean> {
  const why = reasonsOf(error);
  const [row] = await sql(
    `insert into giftcard_job as known (kind, id, order_id, cart_id, last_error, why) values ($1, $2, $3, $4, $5, $6::jsonb)
     on conflict (kind, id) do update set tries = known.tries + 1, last_error = excluded.last_error, why = excluded.why,
       last_failed_at = now()
     returning last_error is distinct from (select last_error from giftcard_job where kind = $1 and id = $2) as is_new`,
    [kind, id, orderId, cartId, faultOf(error), why ? JSON.stringify(why) : null],
  );
  return row?.is_new === true;
}

/** Deletes a failing job that is done, or has nothing left to do. */
export async function forgetJob(sql: Sql, { kind, id }: Pick<JobKey, "kind" | "id">): Promise<void> {
  await sql("delete from giftcard_job where kind = $1 and id = $2 and exempted_at is null", [kind, id]);
}

/** Deletes the failing jobs of a kind that weren't found again: they are done. */
export async function forgetOthers(sql: Sql, kind: JobKind, foundIds: readonly string[]): Promise<void> {
  await sql("delete from giftcard_job where kind = $1 and exempted_at is null and id <> all($2::text[])", [
    kind,
    foundIds,
  ]);
}

export async function readExemptJobs(sql: Sql, kind: JobKind): Promise<Set<string>> {
  return new Set(
    await readTexts(sql, "select id from giftcard_job where kind = $1 and exempted_at is not null", [kind]),
  );
}

/** Exempts a failing job from further tries, as a person decided. @returns false if there is no such job (any more) */
export const exemptJob = (sql: Sql, { kind, id }: Pick<JobKey, "kind" | "id">, actor: string): Promise<boolean> =>
  hasRows(
    sql,
    "update giftcard_job set exempted_by = $3, exempted_at = now() where kind = $1 and id = $2 and exempted_at is null returning 1",
    [kind, id, actor],
  );

const COLUMNS = `kind, id, order_id as "orderId", tries::integer, last_error as "lastError", why,
  first_failed_at as "firstFailedAt", last_failed_at as "lastFailedAt"`;

/** Lists the jobs that keep failing, the oldest first, and counts them. */
export async function listFailing(
  sql: Sql,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ jobs: FailingJob[]; count: number }> {
  const jobs = await readRows<FailingJob>(
    sql,
    `select ${COLUMNS} from giftcard_job where exempted_at is null
     order by first_failed_at, kind, id limit $1 offset $2`,
    [limit, offset],
  );
  return { jobs, count: await countFailingJobs(sql) };
}

export const countFailingJobs = (sql: Sql): Promise<number> =>
  readCount(sql, "select count(*) from giftcard_job where exempted_at is null");

export const readJob = (sql: Sql, kind: JobKind, id: string): Promise<FailingJob | null> =>
  readRow(
    sql,
    `select ${COLUMNS}, cart_id as "cartId" from giftcard_job where kind = $1 and id = $2 and exempted_at is null`,
    [kind, id],
  );
