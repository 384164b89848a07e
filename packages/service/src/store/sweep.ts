import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../database/database.js";

const EVERY_MS = 60_000;
const FIRST_AFTER_MS = 1000;
/** Small, so that no statement holds locks for long. Locked rows are skipped. */
const BATCH_ROWS = 500;
const PAUSE_MS = 50;

/**
 * Statements that remove expired data: answers after 24 hours, whose Idempotency-Keys stay for good; old counts of guesses,
 * calls; API keys 90 days after they were revoked or expired. Each materializes its rows first: PostgreSQL may run
 * a subquery of `in` repeatedly, and each run would skip the rows that the last one locked.
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
  // A count of calls is irrelevant after a minute, and a count of wrong PINs after a day.
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

/** Removes expired data, in small steps. */
export async function sweep(db: Queryable, signal?: AbortSignal): Promise<void> {
  for (const statement of SWEEPS) {
    for (;;) {
      const { rowCount } = await db.query(statement);
      if ((rowCount ?? 0) < BATCH_ROWS || signal?.aborted) break;
      await sleep(PAUSE_MS);
    }
  }
}

/** Sweeps every minute. See {@link regularly}. */
export const sweepRegularly = (db: Queryable, onFailure: (error: unknown) => void): (() => Promise<void>) =>
  regularly((signal) => (signal.aborted ? Promise.resolve() : sweep(db, signal)), EVERY_MS, onFailure);

/**
 * Runs work periodically until it is stopped, and then a last time, with the aborted signal.
 *
 * @param onFailure called if the work fails; it is tried again anyway
 * @returns a function that stops, and waits for the work
 */
export function regularly(
  work: (signal: AbortSignal) => Promise<void>,
  everyMs: number,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const run = async () => {
    for (let pauseMs = FIRST_AFTER_MS; !signal.aborted; pauseMs = everyMs) {
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      await work(signal).catch(onFailure);
    }
  };
  const running = run();
  return async () => {
    ending.abort();
    await running;
  };
}
