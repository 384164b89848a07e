const MAX_RETRY_AFTER_SECONDS = 24 * 60 * 60;

/**
 * Reads a Retry-After header: a number of seconds, or a date.
 *
 * @returns whole seconds from now, 0 to a day; undefined if there is no such header, or it can't be read
 */
export function readRetryAfter(header: string | null | undefined): number | undefined {
  if (header === null || header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS);
}
