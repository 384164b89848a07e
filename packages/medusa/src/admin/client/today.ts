/** The reports' days begin in this time zone, wherever the browser is. It is checkout's DEFAULT_TIME_ZONE. */
const day = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Amsterdam" });

export const reportDay = (at = new Date()): string => day.format(at);
