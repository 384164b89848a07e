/** After how many seconds a caller that was turned away may try again. */
export const OVERLOAD_RETRY_SECONDS = 1;

/**
 * The database has no room, for connections, memory or on its disk; is starting or ending; takes no writes; gave up a
 * statement that waited too long; or undid one for the sake of others again and again.
 */
const BUSY_CODES = /^(53...|57P03|57014|55P03|40001|40P01|25006|ECONNREFUSED)$/;

/** Tells whether a failure means that there was no room: nothing was done, and later it may be. */
export function isOverload(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  // What the pool says when no connection became free in time; it has no code.
  return BUSY_CODES.test(String(code)) || error.message === "timeout exceeded when trying to connect";
}
