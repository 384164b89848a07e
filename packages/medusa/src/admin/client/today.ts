/** The clock by which the reports' days begin, wherever the browser is: checkout's DEFAULT_TIME_ZONE. */
const day = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Amsterdam" });

/** The reports' day at a moment, yyyy-mm-dd. */
export const reportDay = (at = new Date()): string => day.format(at);
