import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../database/database.js";

const EVERY_MS = 60_000;
const FIRST_AFTER_MS = 1000;
/** Small, so that no statement holds anything for long; others' rows are passed over. */
const BATCH_ROWS = 500;
const PAUSE_MS = 50;

/**
 * What runs out: the answers kept for 24 hours, whose Idempotency-Keys stay for good; counts of guesses and of calls long
 * past; and API keys that have been revoked, or have expired, for 90 days. The rows are chosen first: PostgreSQL may run a subquery of `in` more than once, and each run passes over what the last one locked.
 */
const SWEEPS = [
  `with old as materialized (
     select company_id, operation, key_hash from idempotency_keys
       where answer is not null and created_at <= now() - interval '24 hours'
       order by created_at limit ${BATCH_ROWS} for update skip locked)
   update idempotency_keys as kept set answer = null from old
     where (kept.company_id, kept.operation, kept.key_hash) = (old.company_id, old.operation, old.key_hash)`,
  `with old as materialized (
     select subject from failed_attempts where expires_at < now()
       order by expires_at limit ${BATCH_ROWS} for update skip locked)
   delete from failed_attempts as kept using old where kept.subject = old.subject`,
  // A count of calls says nothing any more after a minute, and one of wrong PINs after a day.
  `with old as materialized (
     select kind, id from call_usage where slot < extract(epoch from now() - interval '30 minutes') / 2
       limit ${BATCH_ROWS} for update skip locked)
   delete from call_usage as kept using old where (kept.kind, kept.id) = (old.kind, old.id)`,
  `with old as materialized (
     select company_id, minute from wrong_pins where minute < extract(epoch from now() - interval '25 hours') / 60
       limit ${BATCH_ROWS} for update skip locked)
   delete from wrong_pins as kept using old where (kept.company_id, kept.minute) = (old.company_id, old.minute)`,
  `with old as materialized (
     select id from api_keys
       where (revoked_at is not null or expires_at is not null)
         and least(revoked_at, expires_at) < now() - interval '90 days'
       order by least(revoked_at, expires_at) limit ${BATCH_ROWS} for update skip locked)
   delete from api_keys as kept using old where kept.id = old.id`,
];

/** Removes what has run out, in small steps. */
export async function sweep(db: Queryable, signal?: AbortSignal): Promise<void> {
  for (const statement of SWEEPS) {
    for (;;) {
      const { rowCount } = await db.query(statement);
      if ((rowCount ?? 0) < BATCH_ROWS || signal?.aborted) break;
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Sweeps every minute until it is stopped.
 *
 * @param onFailure hears of a sweep that failed; the next one comes all the same
 * @returns stops it, and waits until the sweep that is under way has ended
 */
export function sweepRegularly(db: Queryable, onFailure: (error: unknown) => void): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const run = async () => {
    for (let pauseMs = FIRST_AFTER_MS; ; pauseMs = EVERY_MS) {
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      await sweep(db, signal).catch(onFailure);
    }
  };
  const running = run();
  return async () => {
    ending.abort();
    await running;
  };
}
