import { Temporal } from "temporal-polyfill";
import { isTimeZone, localTimeAt, zoned } from "../clock.js";
import { type Component, type Property, propertiesOf, textOf } from "./components.js";
import { dateOfDay, dayNumberOf, daysOf, type Rule, type StepBudget } from "./recurrence.js";

/** A part of an event that can't be read without a guess. */
export class Unreadable extends Error {
  constructor(
    readonly field: string,
    message: string,
    readonly read?: string,
  ) {
    super(message);
  }
}

/** A time as the calendar writes it: a date, or a local time with the name of its zone; undefined if it floats. */
export interface WrittenTime {
  readonly local: string;
  readonly zoneName?: string | undefined;
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ?)?$/;
const UTC = /^(?:etc\/)?(?:utc|uct|gmt|zulu)$/i;

/** Returns whether a time is a date without a time of day. */
export const isDay = ({ local }: WrittenTime): boolean => !local.includes("T");

/** @throws {Unreadable} if a value of a property is no time */
export const timesOf = ([name, { tzid }, type, ...values]: Property): WrittenTime[] =>
  values.map((value) => {
    const field = name.toUpperCase();
    if (type === "period") throw new Unreadable(field, "has periods, which are not read. Give times");
    if (typeof value !== "string" || !TIME.test(value) || !exists(value.replace("Z", "")))
      throw new Unreadable(field, "must be an existing date, or a date and time", String(value));
    return value.endsWith("Z") ? { local: value.slice(0, -1), zoneName: "UTC" } : { local: value, zoneName: tzid };
  });

function exists(local: string): boolean {
  try {
    Temporal.PlainDateTime.from(local, { overflow: "reject" });
    // Outlook describes zones from 1601 on.
    return local >= "1601" && !local.endsWith(":60");
  } catch {
    return false;
  }
}

/** A local time in an IANA zone. */
export interface PlacedTime {
  readonly local: string;
  readonly timeZone: string;
}

/** Resolves the time zones of a calendar. */
export class Zones {
  readonly #described: ReadonlyMap<string, Component>;
  readonly #home: string;
  readonly #budget: StepBudget;
  readonly #changes = new Map<string, readonly OffsetChange[]>();

  /** @param home the zone of times without a place: floating ones, and those in UTC */
  constructor(described: ReadonlyMap<string, Component>, home: string, budget: StepBudget) {
    this.#described = described;
    this.#home = home;
    this.#budget = budget;
  }

  /**
   * Finds the IANA zone of a time. A zone of another name must be described in the calendar, and have the same offset as the
   * home zone at this time.
   *
   * @throws {Unreadable} if the zone is unknown, or the time can't be written as a local time
   */
  place(field: string, { local, zoneName }: WrittenTime): PlacedTime {
    if (zoneName === undefined) return { local, timeZone: this.#home };
    if (UTC.test(zoneName)) return this.#atHome(field, local);
    const offset = this.#offsetAt(zoneName, local);
    if (isTimeZone(zoneName)) {
      const own = zoned(local, zoneName).offset;
      if (offset !== undefined && offset !== own)
        throw new Unreadable(
          field,
          `has the offset ${offset} in the calendar's VTIMEZONE, but ${own} in ${zoneName}`,
          local,
        );
      return { local, timeZone: zoneName };
    }
    if (offset === undefined)
      throw new Unreadable(field, "is in a time zone that the calendar doesn't describe", zoneName);
    if (offset !== zoned(local, this.#home).offset)
      throw new Unreadable(
        field,
        `is in a time zone without an IANA name, and not in ${this.#home}. Set the venue's`,
        zoneName,
      );
    return { local, timeZone: this.#home };
  }

  #atHome(field: string, utc: string): PlacedTime {
    const instant = new Date(`${utc}Z`);
    const local = localTimeAt(instant, this.#home);
    if (zoned(local, this.#home).epochMilliseconds !== instant.getTime())
      throw new Unreadable(
        field,
        `is the second of two equal local times in ${this.#home}, which can't be written`,
        utc,
      );
    return { local, timeZone: this.#home };
  }

  /** Returns the offset that the calendar's VTIMEZONE has at a local time; undefined if there is none. */
  #offsetAt(name: string, local: string): string | undefined {
    const zone = this.#described.get(name);
    if (!zone) return undefined;
    const until = `${Math.max(2100, Number(local.slice(0, 4)) + 1)}-01-01`;
    const key = `${name} ${until}`;
    const changes = this.#changes.get(key) ?? changesOf(zone, until, this.#budget);
    this.#changes.set(key, changes);
    return (changes.findLast(({ at }) => at <= local) ?? changes[0])?.offset;
  }
}

/** A change of a zone's offset, at the local time before it. */
interface OffsetChange {
  readonly at: string;
  readonly offset: string;
}

function changesOf([, , observances]: Component, until: string, budget: StepBudget): OffsetChange[] {
  const changes = observances.flatMap((observance) => {
    const [start] = propertiesOf(observance, "dtstart").flatMap(timesOf);
    const offset = textOf(observance, "tzoffsetto")?.slice(0, 6);
    if (!start || isDay(start) || !offset) return [];
    const clock = start.local.slice(10);
    const further = propertiesOf(observance, "rdate").flatMap(timesOf);
    const repeated = propertiesOf(observance, "rrule").flatMap(([, , , value]) => {
      const rule = value as Rule;
      const first = dayNumberOf(start.local);
      // The rule's end is in UTC, where the last change can be on the day before.
      const last = Math.min(dayNumberOf(until), rule.until ? dayNumberOf(rule.until) + 1 : Number.POSITIVE_INFINITY);
      return [...daysOf(rule, { first, from: first, until: last }, budget)];
    });
    const times = [start.local, ...further.map(({ local }) => local), ...repeated.map((day) => dateOfDay(day) + clock)];
    return times.map((at) => ({ at, offset }));
  });
  return changes.sort((a, b) => (a.at < b.at ? -1 : 1));
}
