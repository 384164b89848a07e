/** The Retry-After of a call that was refused because of overload. */
export const OVERLOAD_RETRY_SECONDS = 1;

/**
 * Codes of a database that lacks connections, memory or disk space, is starting or stopping, takes no writes, canceled a
 * statement that waited too long, or rolled it back repeatedly because of conflicts.
 */
const BUSY_CODES = /^(53...|57P03|57014|55P03|40001|40P01|25006|ECONNREFUSED)$/;

/** Returns whether a failure means overload: nothing was done, and a later call may succeed. */
export function isOverload(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  // The pool's error if no connection became free in time has no code.
  return BUSY_CODES.test(String(code)) || error.message === "timeout exceeded when trying to connect";
}
