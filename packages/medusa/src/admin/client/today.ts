/** The reports' days begin in this time zone, wherever the browser is. It is checkout's DEFAULT_TIME_ZONE. */
const day = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Amsterdam" });

/** Returns the reports' day at a moment, yyyy-mm-dd. */
export const reportDay = (at = new Date()): string => day.format(at);
