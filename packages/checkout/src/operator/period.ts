/** Whole days in a time zone, yyyy-mm-dd, including `from` and `to`. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** The default time zone of days, which the service's own reports use. */
export const DEFAULT_TIME_ZONE = "Europe/Amsterdam";

/** Whether a text is a valid day, yyyy-mm-dd. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  return at !== null && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Returns the days of a month, yyyy-mm. @throws {RangeError} if the month is invalid */
export function daysOfMonth(month: string): Days {
  const from = `${month}-01`;
  if (!isDay(from)) throw new RangeError("A month is yyyy-mm.");
  const [year, monthNumber] = month.split("-").map(Number) as [number, number];
  return { from, to: new Date(Date.UTC(year, monthNumber, 0)).toISOString().slice(0, 10) };
}

/** Returns the day of a time, yyyy-mm-dd. */
export function dayOf(at: Date, timeZone = DEFAULT_TIME_ZONE): string {
  return new Date(at.getTime() + offsetMs(at, timeZone)).toISOString().slice(0, 10);
}

/**
 * Returns the start of the first day, and the end of the last day, which is excluded.
 * @throws {RangeError} if a day is invalid, or the last is before the first
 */
export function momentsOf({ from, to }: Days, timeZone = DEFAULT_TIME_ZONE): { from: Date; to: Date } {
  if (!isDay(from) || !isDay(to)) throw new RangeError("A day is yyyy-mm-dd.");
  if (to < from) throw new RangeError("The last day is before the first.");
  const after = new Date(Date.parse(`${to}T00:00:00Z`) + 24 * 60 * 60_000).toISOString().slice(0, 10);
  return { from: startOf(from, timeZone), to: startOf(after, timeZone) };
}

function startOf(day: string, timeZone: string): Date {
  const asUtc = Date.parse(`${day}T00:00:00Z`);
  // The offset may change in between. The second calculation uses the offset at the start of the day.
  const near = new Date(asUtc - offsetMs(new Date(asUtc), timeZone));
  return new Date(asUtc - offsetMs(near, timeZone));
}

/** Cached, because creating one is slow, and a report of a month needs one for each charge. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known) return known;
  const clock = new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  clocks.set(timeZone, clock);
  return clock;
}

/** Returns how far the zone is ahead of UTC at a time. */
function offsetMs(at: Date, timeZone: string): number {
  const parts = clockOf(timeZone).formatToParts(at);
  const part = (type: string) => Number(parts.find((p) => p.type === type)?.value);
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return local - Math.floor(at.getTime() / 1000) * 1000;
}
