import { Temporal } from "temporal-polyfill";

/** The time zone of events that name none. */
export const DEFAULT_TIME_ZONE = "Europe/Amsterdam";

const knownZones = new Set<string>();

/** Returns whether a text names a time zone, such as `Europe/Amsterdam`. An offset isn't a name, nor is the ambiguous `IST`. */
export function isTimeZone(name: string): boolean {
  if (knownZones.has(name)) return true;
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    zoned("2000-01-01T00:00:00", name);
  } catch {
    return false;
  }
  knownZones.add(name);
  return true;
}

/** Adds a zone to a local time. Of a time that occurs twice, it means the first. A skipped time moves forward with the clocks. */
export const zoned = (local: string, timeZone: string) => Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone);

/** Returns whether the zone's clocks show this time. They skip an hour when summer time begins. */
export const isOnClock = (local: string, timeZone: string): boolean =>
  zoned(local, timeZone).toPlainDateTime().equals(Temporal.PlainDateTime.from(local));

/** Returns whether the zone's clocks show this time twice. They do when summer time ends. */
export const isTwiceOnClock = (local: string, timeZone: string): boolean => {
  const time = Temporal.PlainDateTime.from(local);
  return !time.toZonedDateTime(timeZone).equals(time.toZonedDateTime(timeZone, { disambiguation: "later" }));
};

/** Returns the instant at which the zone's clocks show this time. */
export const instantOf = (local: string, timeZone: string): Date => new Date(zoned(local, timeZone).epochMilliseconds);

/** Adds the zone's offset to a local time, as in `2036-04-12T21:00:00+02:00`. */
export const withOffset = (local: string, timeZone: string): string => `${local}${zoned(local, timeZone).offset}`;

/** Returns the local time in the zone at an instant, `yyyy-mm-ddThh:mm:ss`. */
export const localTimeAt = (instant: Date, timeZone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime()
    .toString({ smallestUnit: "second" });
