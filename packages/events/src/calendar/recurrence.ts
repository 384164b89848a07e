/** A rule of a repeating event (RFC 5545, RRULE), with the names that `ical.js` gives its parts. */
export interface Rule {
  readonly freq: string;
  readonly interval?: number;
  readonly count?: number;
  readonly until?: string;
  readonly wkst?: number;
  readonly bymonth?: number | readonly number[];
  readonly bymonthday?: number | readonly number[];
  readonly byyearday?: number | readonly number[];
  readonly bysetpos?: number | readonly number[];
  readonly byday?: string | readonly string[];
}

const PARTS = ["interval", "count", "until", "wkst", "bymonth", "bysetpos"];
const FREQUENCIES = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"];
const WEEKDAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
const DAY_MS = 86_400_000;

/** Returns the parts of a rule that `daysOf` can't read, or that are invalid at this frequency. */
export const unreadParts = (rule: object): string[] =>
  Object.entries(rule).flatMap(([part, value]) =>
    isRead(part, [value].flat(), String((rule as { freq?: unknown }).freq)) ? [] : [`${part}=${value}`.toUpperCase()],
  );

function isRead(part: string, values: readonly unknown[], freq: string): boolean {
  if (part === "freq") return FREQUENCIES.includes(freq);
  if (part === "byyearday") return freq === "YEARLY";
  if (part === "bymonthday") return freq !== "WEEKLY";
  const isCounted = values.some((day) => /\d/.test(String(day)));
  if (part === "byday") return !isCounted || freq === "MONTHLY" || freq === "YEARLY";
  return PARTS.includes(part);
}

/** The steps that reading one file may take, so that a hostile rule can't take forever. */
export class StepBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** @throws {Error} if no step is left */
  use(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new Error("its repeating events are too many to compute");
  }
}

/** Converts a date, `yyyy-mm-dd`, to the number of days since 1970. */
export const dayNumberOf = (date: string): number => Date.parse(`${date.slice(0, 10)}T00:00:00Z`) / DAY_MS;

/** Converts a number of days since 1970 to a date, `yyyy-mm-dd`. */
export const dateOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** The days to compute, as numbers of days since 1970. */
export interface DayRange {
  /** The event's first day, at which counting begins. */
  readonly first: number;
  /** Earlier days are skipped. */
  readonly from: number;
  /** The last day. */
  readonly until: number;
}

/**
 * Computes the days of a rule, in order: it walks through the rule's periods and tests each of their days. It ignores the rule's
 * `until`, which is an instant.
 *
 * A library doesn't do this, because `ical.js` never returns from a rule without a day, such as
 * `FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30`, and computes 1 March for the same rule of years.
 */
export function* daysOf(rule: Rule, { first, from, until }: DayRange, budget: StepBudget): Generator<number> {
  const startOf = periodsOf(rule, first);
  const test = testOf(rule, first);
  const step = Math.max(1, rule.interval ?? 1);
  const positions = listOf(rule.bysetpos);
  const count = rule.count ?? Number.POSITIVE_INFINITY;
  let counted = 0;
  for (let period = rule.count === undefined ? skippedPeriods(rule, first, from, step) : 0; ; period += step) {
    const start = startOf(period);
    if (!(start <= until)) return;
    budget.use();
    const days = daysIn(start, startOf(period + 1), test, budget);
    for (const day of positions.length > 0 ? picked(days, positions) : days) {
      if (day < first) continue;
      if (day > until || counted >= count) return;
      counted += 1;
      if (day >= from) yield day;
    }
  }
}

/** Returns a function that computes the first day of a period: a day, week, month or year, counted from the first day's. */
function periodsOf({ freq, wkst = 2 }: Rule, first: number): (period: number) => number {
  const { year, month, weekday } = partsOf(first);
  const startOfMonth = (index: number) => Date.UTC(year, index, 1) / DAY_MS;
  if (freq === "YEARLY") return (period) => startOfMonth(12 * period);
  if (freq === "MONTHLY") return (period) => startOfMonth(month - 1 + period);
  // The library counts weekdays from 1, a Sunday.
  if (freq === "WEEKLY") return (period) => first - ((weekday - (wkst - 1) + 7) % 7) + 7 * period;
  return (period) => first + period;
}

const PERIOD_DAYS: Record<string, number> = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, YEARLY: 366 };

/** Returns a number of periods that end before the first day that is needed. */
const skippedPeriods = ({ freq }: Rule, first: number, from: number, step: number): number =>
  Math.max(0, Math.floor((from - first) / (PERIOD_DAYS[freq] ?? 1) / step) - 1) * step;

function daysIn(start: number, end: number, test: (day: number) => boolean, budget: StepBudget): number[] {
  const days: number[] = [];
  budget.use(end - start);
  for (let day = start; day < end; day++) if (test(day)) days.push(day);
  return days;
}

const picked = (days: readonly number[], positions: readonly number[]): number[] =>
  days.filter((_, index) => positions.includes(index + 1) || positions.includes(index - days.length));

function partsOf(day: number) {
  const date = new Date(day * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  const startOfYear = Date.UTC(year, 0, 1) / DAY_MS;
  return {
    year,
    month,
    monthDay: date.getUTCDate(),
    weekday: date.getUTCDay(),
    monthDays: new Date(Date.UTC(year, month, 0)).getUTCDate(),
    yearDay: day - startOfYear + 1,
    yearDays: Date.UTC(year + 1, 0, 1) / DAY_MS - startOfYear,
  };
}

/** Returns a function that tells whether a day matches the rule's parts. */
function testOf(rule: Rule, first: number): (day: number) => boolean {
  const { freq } = rule;
  const [byMonth, byMonthDay, byYearDay] = [listOf(rule.bymonth), listOf(rule.bymonthday), listOf(rule.byyearday)];
  const byDay = listOf(rule.byday).map(weekdayOf);
  const own = partsOf(first);
  const isBare = byMonthDay.length + byYearDay.length + byDay.length === 0;
  if (isBare && freq === "WEEKLY") byDay.push({ weekday: own.weekday, ordinal: 0 });
  if (isBare && (freq === "MONTHLY" || freq === "YEARLY")) byMonthDay.push(own.monthDay);
  if (isBare && freq === "YEARLY" && byMonth.length === 0) byMonth.push(own.month);
  const isInMonth = freq === "MONTHLY" || byMonth.length > 0;
  return (day) => {
    const { month, monthDay, weekday, monthDays, yearDay, yearDays } = partsOf(day);
    if (byMonth.length > 0 && !byMonth.includes(month)) return false;
    if (byMonthDay.length > 0 && !isAt(byMonthDay, monthDay, monthDays)) return false;
    if (byYearDay.length > 0 && !isAt(byYearDay, yearDay, yearDays)) return false;
    const [place, length] = isInMonth ? [monthDay, monthDays] : [yearDay, yearDays];
    return byDay.length === 0 || byDay.some((each) => each.weekday === weekday && isNth(each.ordinal, place, length));
  };
}

/** Returns whether a list contains a place, counted from the start or, if negative, from the end. */
const isAt = (list: readonly number[], place: number, length: number) =>
  list.includes(place) || list.includes(place - length - 1);

/** Returns whether a weekday is the first, second, … or, if negative, the last, last but one, … of its month or year. */
const isNth = (ordinal: number, place: number, length: number): boolean =>
  ordinal === 0 || ordinal === Math.floor((place - 1) / 7) + 1 || ordinal === -(Math.floor((length - place) / 7) + 1);

const weekdayOf = (text: string) => ({
  weekday: WEEKDAYS.indexOf(text.slice(-2).toUpperCase()),
  ordinal: Number(text.slice(0, -2) || "0"),
});

const listOf = <T>(value: T | readonly T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? [...value] : [value as T];
