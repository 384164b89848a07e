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
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: "full" });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
  return {
    /** Formats cents as an amount in euro; a dash if it isn't known. */
    money: (cents: number | null, unknown = "–"): string =>
      cents === null ? unknown : euro.format(cents === 0 ? 0 : cents / 100),
    number: (value: number): string => number.format(value),
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

/**
 * Reads a percentage that a person typed, with a comma or a point. An `<input type="number">` reads it in the browser's
 * language, which may be another one than the admin's: it then silently drops a comma.
 * @returns the percentage as the API takes it, `""` if nothing is typed, or undefined if it is not a number from 0 to 100
 */
export function readPercent(text: string): string | undefined {
  const typed = text.trim();
  if (typed === "") return "";
  const percent = typed.replace(",", ".");
  return /^\d{1,3}(\.\d{1,4})?$/.test(percent) && Number(percent) <= 100 ? percent : undefined;
}
