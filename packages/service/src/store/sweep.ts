import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../database.js";

const EVERY_MS = 60_000;
const FIRST_AFTER_MS = 1000;
/** Small, so that no statement holds anything for long; others' rows are passed over. */
const BATCH_ROWS = 500;
const PAUSE_MS = 50;

/** What runs out: the answers kept for 24 hours, whose keys stay for good, and counts of guesses long past. */
const SWEEPS = [
  `update idempotency_keys set answer = null where (company_id, operation, key_hash) in (
     select company_id, operation, key_hash from idempotency_keys
       where answer is not null and created_at <= now() - interval '24 hours'
       order by created_at limit ${BATCH_ROWS} for update skip locked)`,
  `delete from failed_attempts where subject in (
     select subject from failed_attempts where expires_at < now()
       order by expires_at limit ${BATCH_ROWS} for update skip locked)`,
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
