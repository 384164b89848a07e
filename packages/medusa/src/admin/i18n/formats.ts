/**
 * Returns the locale of one of Medusa's languages, such as `ptBR` or `nl`: the browser's own variant of it, if there is
 * one, such as `en-IE` for `en`.
 */
export function localeOf(language: string, browsers: readonly string[]): string {
  const tag = language.replace(/^([a-z]{2})([A-Z]{2})$/, "$1-$2");
  const variant = browsers.find((one) => one === tag || one.startsWith(`${tag}-`));
  try {
    return variant ?? new Intl.Locale(tag).toString();
  } catch {
    return "en";
  }
}

export function createFormats(language: string) {
  const locale = localeOf(language, navigator.languages);
  const euro = new Intl.NumberFormat(locale, { style: "currency", currency: "EUR" });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: "full" });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
  return {
    /** Formats cents as an amount in euro; a dash if it isn't known. */
    money: (cents: number | null): string => (cents === null ? "–" : euro.format(cents === 0 ? 0 : cents / 100)),
    /** Formats a moment by the browser's clock. */
    time: (iso: string | null): string => (iso === null ? "–" : moment.format(new Date(iso))),
    /** Formats the time of day of a moment, and its date, by the browser's clock. */
    clock: (iso: string): string => clock.format(new Date(iso)),
    date: (iso: string): string => date.format(new Date(iso)),
    /** Formats a day such as `2026-11-26`. */
    day: (text: string): string => day.format(new Date(`${text}T00:00:00Z`)),
  };
}

/** Returns the beginning of a day, or of a later one, by the browser's clock. */
export function beginOf(day: string, after = 0): string {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + after);
  return at.toISOString();
}

/** The reports' days begin in this time zone, wherever the browser is. It is checkout's DEFAULT_TIME_ZONE. */
const day = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Amsterdam" });

export const reportDay = (at = new Date()): string => day.format(at);
