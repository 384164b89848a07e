const AMSTERDAM = "at time zone 'Europe/Amsterdam'";

/** SQL: the present day in Amsterdam. */
export const TODAY = `(now() ${AMSTERDAM})::date`;

/** SQL: whether a time is on this day or later, by the clock in Amsterdam. */
export const isSince = (time: string, day: string) => `${time} >= ${day}::date::timestamp ${AMSTERDAM}`;

/** SQL: whether a time is on this day or earlier, by the clock in Amsterdam. */
export const isUntil = (time: string, day: string) => `${time} < (${day}::date + 1)::timestamp ${AMSTERDAM}`;

/** SQL: whether a time is within a period, whose days may each be null. */
export const isWithin = (time: string, from: string, to: string) =>
  `(${from}::date is null or ${isSince(time, from)}) and (${to}::date is null or ${isUntil(time, to)})`;

/** SQL: the day of a time, by the clock in Amsterdam. */
export const dayOf = (time: string) => `(${time} ${AMSTERDAM})::date`;

/** Returns the present day in Amsterdam, yyyy-mm-dd. */
export const today = (): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Amsterdam" }).format(new Date());
