import { Temporal } from "temporal-polyfill";
import { instantOf, zoned } from "../clock.js";
import { type Component, propertiesOf, textOf } from "./components.js";
import { dateOfDay, dayNumberOf, daysOf, type Rule, type StepBudget, unreadParts } from "./recurrence.js";
import { isDay, type PlacedTime, timesOf, Unreadable, type WrittenTime, type Zones } from "./times.js";

/** One date of an event. */
export interface Occurrence {
  readonly start: PlacedTime;
  /** A local time in the start's zone, or a date. */
  readonly end?: string | undefined;
  /** Identifies a date of a repeating event: its planned start, in UTC. It stays if the date is moved. */
  readonly id?: string | undefined;
}

/** The dates of a repeating event to read. */
export interface Period {
  readonly from: Date;
  readonly until: Date;
}

const MAX_OCCURRENCES = 1000;

/** Reads the dates of events. */
export class OccurrenceReader {
  constructor(
    readonly zones: Zones,
    readonly period: Period,
    readonly budget: StepBudget,
  ) {}

  /**
   * Reads an event's dates: its start, or, if it repeats, those in the period. Dates before the period are omitted.
   *
   * @param moved the ids of the dates that events of their own replace
   * @throws {Unreadable} if a part can't be read without a guess
   */
  datesOf(event: Component, moved: ReadonlySet<string>): Occurrence[] {
    const start = this.#only(event, "DTSTART");
    if (!start) throw new Unreadable("DTSTART", "is required");
    const endOf = this.#endOf(event, start);
    const own = this.#only(event, "RECURRENCE-ID");
    const place = (time: WrittenTime) => this.zones.place("DTSTART", time);
    if (!isRepeating(event) && this.#isEarlier(start)) return [];
    if (own) {
      if (propertiesOf(event, "recurrence-id").some(([, { range }]) => range !== undefined))
        throw new Unreadable("RECURRENCE-ID", "changes all later dates, which is not read. Give each date");
      return [{ start: place(start), end: endOf(place(start)), id: this.idOf(own) }];
    }
    if (!isRepeating(event)) return [{ start: place(start), end: endOf(place(start)) }];
    const excluded = new Set([...moved, ...this.#listed(event, "EXDATE", start).map((time) => this.idOf(time))]);
    const found = new Map<string, Occurrence>();
    for (const time of [...this.#repeated(event, start), ...this.#listed(event, "RDATE", start)]) {
      const id = this.idOf(time);
      if (excluded.has(id) || !this.#isInPeriod(time)) continue;
      found.set(id, { start: place(time), end: endOf(place(time)), id });
      if (found.size > MAX_OCCURRENCES)
        throw new Unreadable("RRULE", `has more than ${MAX_OCCURRENCES} dates. Choose an earlier end`);
    }
    return [...found.values()].sort((a, b) => ((a.id ?? "") < (b.id ?? "") ? -1 : 1));
  }

  /** Returns the id of a date: `yyyymmddThhmmssZ`, or `yyyymmdd` of a day. */
  idOf(time: WrittenTime): string {
    if (isDay(time)) return time.local.replaceAll("-", "");
    return this.#instantOf(time)
      .toISOString()
      .replaceAll(/[-:]|\.\d+/g, "");
  }

  #instantOf(time: WrittenTime): Date {
    if (time.zoneName === "UTC") return new Date(`${time.local}Z`);
    const { local, timeZone } = this.zones.place("DTSTART", time);
    return instantOf(local, timeZone);
  }

  #isInPeriod(time: WrittenTime): boolean {
    const at = this.#endOfStart(time);
    return at >= this.period.from && at <= this.period.until;
  }

  /** Returns the instant of a time, or the end of a day. */
  #endOfStart(time: WrittenTime): Date {
    return this.#instantOf(isDay(time) ? { ...time, local: `${time.local}T23:59:59` } : time);
  }

  /** Returns whether a time is before the period. Of times long before it, zones are not resolved: old rules differ. */
  #isEarlier(time: WrittenTime): boolean {
    const days = dayNumberOf(this.period.from.toISOString()) - dayNumberOf(time.local);
    return days > 2 || (days >= 0 && this.#endOfStart(time) < this.period.from);
  }

  #only(event: Component, field: string): WrittenTime | undefined {
    const times = propertiesOf(event, field.toLowerCase()).flatMap(timesOf);
    if (times.length > 1) throw new Unreadable(field, "is given more than once");
    return times[0];
  }

  #listed(event: Component, field: string, start: WrittenTime): WrittenTime[] {
    const times = propertiesOf(event, field.toLowerCase()).flatMap(timesOf);
    if (times.some((time) => isDay(time) !== isDay(start)))
      throw new Unreadable(field, "must have dates if DTSTART has a date, and times if DTSTART has a time");
    return times;
  }

  /** Computes the dates of an event's rules. The event's start is the first of them. */
  *#repeated(event: Component, start: WrittenTime): Generator<WrittenTime> {
    if (propertiesOf(event, "exrule").length > 0) throw new Unreadable("EXRULE", "is not read. Use EXDATE");
    const rules = propertiesOf(event, "rrule").map(([, , , rule]) => ruleOf(rule as object, start));
    if (rules.length === 0) yield start;
    for (const rule of rules) {
      const first = dayNumberOf(start.local);
      const [begun] = daysOf(rule, { first, from: first, until: first }, this.budget);
      if (begun !== first)
        throw new Unreadable("DTSTART", "is not one of the dates of its RRULE, whose meaning is undefined");
      const from = Math.max(first, dayNumberOf(this.period.from.toISOString()) - 1);
      const until = dayNumberOf(this.period.until.toISOString()) + 1;
      for (const day of daysOf(rule, { first, from, until }, this.budget)) {
        const time = { ...start, local: dateOfDay(day) + start.local.slice(10) };
        if (rule.until && this.#isAfter(time, rule.until)) break;
        yield time;
      }
    }
  }

  /** Returns whether a time is after a rule's end: an instant, a local time in the event's zone, or a date. */
  #isAfter(time: WrittenTime, until: string): boolean {
    if (!until.endsWith("Z")) return time.local.slice(0, until.length) > until;
    return this.#instantOf(isDay(time) ? { ...time, local: `${time.local}T00:00:00` } : time) > new Date(until);
  }

  /** Returns a function that computes the end of a date from its start. All dates last equally long. */
  #endOf(event: Component, start: WrittenTime): (start: PlacedTime) => string | undefined {
    const end = this.#only(event, "DTEND");
    const duration = textOf(event, "duration");
    if (end && isDay(end) !== isDay(start))
      throw new Unreadable("DTEND", "must be a date if DTSTART is one, or a time");
    if (end && isDay(end)) return daysLater(dayNumberOf(end.local) - dayNumberOf(start.local));
    if (end) {
      const length = this.#instantOf(end).getTime() - this.#instantOf(start).getTime();
      return (placed) => endAfter(placed, { milliseconds: length });
    }
    if (duration === undefined) return () => undefined;
    const length = lengthOf(duration, start);
    return isDay(start) ? daysLater(length.weeks * 7 + length.days) : (placed) => endAfter(placed, length);
  }
}

/** Returns whether an event has more than one date. */
export const isRepeating = (event: Component): boolean =>
  ["rrule", "rdate", "exrule"].some((name) => propertiesOf(event, name).length > 0);

/** An end that is a date is the day after the event's last one. */
const daysLater = (days: number) => (start: PlacedTime) =>
  days > 1 ? dateOfDay(dayNumberOf(start.local) + days - 1) : undefined;

const DURATION = /^[+-]?P(?:\d+W|\d+D|(?:\d+D)?T(?:\d+H)?(?:\d+M)?(?:\d+S)?)$/;

function lengthOf(duration: string, start: WrittenTime): Temporal.Duration {
  if (!DURATION.test(duration) || duration.endsWith("T"))
    throw new Unreadable("DURATION", "must be a duration, such as PT3H", duration);
  if (isDay(start) && duration.includes("T"))
    throw new Unreadable("DURATION", "must be in days or weeks, because DTSTART is a date", duration);
  return Temporal.Duration.from(duration);
}

const endAfter = ({ local, timeZone }: PlacedTime, length: Temporal.Duration | { milliseconds: number }) =>
  zoned(local, timeZone).add(length).toPlainDateTime().toString({ smallestUnit: "second" });

function ruleOf(rule: object, { local }: WrittenTime): Rule {
  const [hour, minute, second] = local.slice(11).split(":").map(Number);
  const clock: Record<string, number | undefined> = { byhour: hour, byminute: minute, bysecond: second };
  // Some programs repeat the start's time in the rule.
  const parts = Object.fromEntries(
    Object.entries(rule).filter(
      ([part, value]) => !(part in clock && [value].flat().every((at) => at === clock[part])),
    ),
  );
  const unread = unreadParts(parts);
  if (unread.length > 0) throw new Unreadable("RRULE", "has parts that are not read", unread.join(";"));
  return parts as unknown as Rule;
}
