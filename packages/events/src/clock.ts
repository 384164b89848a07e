import { Temporal } from "temporal-polyfill";

/** The zone of an event that names none. */
export const DEFAULT_TIME_ZONE = "Europe/Amsterdam";

const knownZones = new Set<string>();

/** Whether it names a time zone, such as `Europe/Amsterdam`; an offset is no name, nor is `IST`, which several zones go by. */
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

/** Of an hour that comes twice the first; of one that is skipped, as much later as clocks go forward. */
export const zoned = (local: string, timeZone: string) =>
  Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone);

/** Whether the zone's clocks ever show this time: they skip an hour when summer begins. */
export const isOnClock = (local: string, timeZone: string): boolean =>
  zoned(local, timeZone).toPlainDateTime().equals(Temporal.PlainDateTime.from(local));

/** Whether the zone's clocks show this time twice: they go back an hour when summer ends. */
export const isTwiceOnClock = (local: string, timeZone: string): boolean => {
  const time = Temporal.PlainDateTime.from(local);
  return !time.toZonedDateTime(timeZone).equals(time.toZonedDateTime(timeZone, { disambiguation: "later" }));
};

/** The instant at which the zone's clocks show this time. */
export const instantOf = (local: string, timeZone: string): Date =>
  new Date(zoned(local, timeZone).epochMilliseconds);

/** The time with its offset, as in `2036-04-12T21:00:00+02:00`. */
export const withOffset = (local: string, timeZone: string): string =>
  `${local}${zoned(local, timeZone).offset}`;

/** What the zone's clocks show at an instant, `yyyy-mm-ddThh:mm:ss`. */
export const localTimeAt = (instant: Date, timeZone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime()
    .toString({ smallestUnit: "second" });
