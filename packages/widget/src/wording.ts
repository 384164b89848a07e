import type { Messages } from "./messages/index.js";

/** Formats texts, amounts, dates and durations for a locale. */
export class Wording {
  /**
   * @param locale a BCP 47 tag that `Intl` accepts
   * @param currency of all amounts; ISO 4217
   */
  constructor(
    readonly locale: string,
    readonly texts: Messages,
    readonly currency = "EUR",
  ) {}

  /** Replaces each `{name}` in a text with the value of that name; a number is an amount in cents. */
  fill(text: string, values: Record<string, string | number>): string {
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name] ?? whole;
      return typeof value === "number" ? this.money(value) : value;
    });
  }

  /** Formats cents, for example 4998 as € 49,98. */
  money(cents: number): string {
    return new Intl.NumberFormat(this.locale, { style: "currency", currency: this.currency }).format(cents / 100);
  }

  /** Formats a date yyyy-mm-dd; returns an empty text for anything else. */
  date(isoDate: string): string {
    const time = /^\d{4}-\d\d-\d\d$/.test(isoDate) && Date.parse(isoDate);
    const style = { dateStyle: "long", timeZone: "UTC" } as const;
    return time ? new Intl.DateTimeFormat(this.locale, style).format(time) : "";
  }

  /** Formats a wait, such as "in 15 minutes", rounded up: in seconds, from a minute in minutes, from two hours in hours. */
  fromNow(seconds: number): string {
    const [unit, size] = (seconds < 60 ? ["second", 1] : seconds < 7200 ? ["minute", 60] : ["hour", 3600]) as [
      Intl.RelativeTimeFormatUnit,
      number,
    ];
    return new Intl.RelativeTimeFormat(this.locale).format(Math.ceil(seconds / size), unit);
  }
}

/** Returns the first of the given language tags that `Intl` accepts, in its canonical form, or `en`. */
export function usableLocale(...tags: (string | null | undefined)[]): string {
  for (const tag of tags) {
    if (!tag) continue;
    try {
      const [locale] = Intl.getCanonicalLocales(tag.replaceAll("_", "-"));
      if (locale) return locale;
    } catch {
      // Not a language tag. Try the next one.
    }
  }
  return "en";
}
