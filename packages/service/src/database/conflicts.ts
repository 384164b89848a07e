import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const { DatabaseError } = pg;
const MAX_ATTEMPTS = 30;
const LONGEST_PAUSE_MS = 50;

/** Serialization failure and deadlock. */
const CONFLICTS = new Set(["40001", "40P01"]);
const UNIQUE_VIOLATION = "23505";

/** The connection ended with these, or the server itself failed, or nobody knows whether it was committed. */
const UNCERTAIN = /^(08|57P|58|XX|25P0[345]|40003)/;

/**
 * Tells whether a failed statement or transaction was undone for certain, by its code: the word for how grave it is comes
 * in the server's language. A connection that broke says nothing about it: the commit may have been made.
 */
export const isAborted = (error: unknown): error is pg.DatabaseError =>
  error instanceof DatabaseError && error.code !== undefined && !UNCERTAIN.test(error.code);

/**
 * Tells whether it failed because others worked on the same rows, so that it may well succeed now. Above READ
 * COMMITTED, a key that another transaction has just used is seen only when it is inserted twice.
 */
function isConflict(error: unknown): boolean {
  if (!isAborted(error)) return false;
  return (
    CONFLICTS.has(error.code ?? "") ||
    (error.code === UNIQUE_VIOLATION && error.constraint === "idempotency_keys_pkey")
  );
}

/**
 * Runs a statement, or a whole transaction, again as long as it is undone because of others. At READ COMMITTED,
 * the default, only a deadlock does that; at REPEATABLE READ and SERIALIZABLE every two that meet.
 *
 * @throws what it failed with at last
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
