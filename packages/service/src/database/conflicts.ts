import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const { DatabaseError } = pg;
const MAX_ATTEMPTS = 30;
const LONGEST_PAUSE_MS = 50;

/** Serialization failure and deadlock. */
const CONFLICTS = new Set(["40001", "40P01"]);
const UNIQUE_VIOLATION = "23505";

/** Codes of a lost connection, a failed server, or a commit of unknown outcome. */
const UNCERTAIN = /^(08|57P|58|XX|25P0[345]|40003)/;

/**
 * Returns whether a failed statement or transaction was certainly rolled back. After a lost connection it may have been
 * committed. Decides by the code, since the severity is in the server's language.
 */
export const isAborted = (error: unknown): error is pg.DatabaseError =>
  error instanceof DatabaseError && error.code !== undefined && !UNCERTAIN.test(error.code);

/**
 * Returns whether it failed because of concurrent transactions, so that a retry may succeed. Above READ COMMITTED, an
 * idempotency key of a concurrent transaction is invisible until the insert violates the primary key.
 */
function isConflict(error: unknown): boolean {
  if (!isAborted(error)) return false;
  return (
    CONFLICTS.has(error.code ?? "") || (error.code === UNIQUE_VIOLATION && error.constraint === "idempotency_keys_pkey")
  );
}

/**
 * Retries a statement, or a whole transaction, while it is rolled back because of concurrent ones. At READ COMMITTED, the
 * default, only a deadlock does that; at REPEATABLE READ and SERIALIZABLE every conflict does.
 *
 * @throws the last failure
 */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || !isConflict(error)) throw error;
      await sleep(Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS));
    }
  }
}
