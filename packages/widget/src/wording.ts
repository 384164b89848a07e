import type { Messages } from "./messages/index.js";

/** Writes texts, amounts, dates and durations the way a locale does. */
export class Wording {
  /** @param locale a BCP 47 tag that Intl takes */
  constructor(
    private readonly locale: string,
    readonly texts: Messages,
  ) {}

  /** Fills `{name}` in a text with the value of that name; a number is cents. */
  fill(text: string, values: Record<string, string | number>): string {
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name] ?? whole;
      return typeof value === "number" ? this.money(value) : value;
    });
  }

  /** Cents of euro as money, for example 4998 as € 49,98. */
  money(cents: number): string {
    return new Intl.NumberFormat(this.locale, { style: "currency", currency: "EUR" }).format(cents / 100);
  }

  /** A date yyyy-mm-dd in words; anything else gives an empty text. */
  date(isoDate: string): string {
    const time = /^\d{4}-\d\d-\d\d$/.test(isoDate) && Date.parse(isoDate);
    const style = { dateStyle: "long", timeZone: "UTC" } as const;
    return time ? new Intl.DateTimeFormat(this.locale, style).format(time) : "";
  }

  /** A rough duration in words: seconds, from a minute on minutes, from two hours on hours; rounded up. */
  duration(seconds: number): string {
    const [unit, size] = (
      seconds < 60 ? ["second", 1] : seconds < 7200 ? ["minute", 60] : ["hour", 3600]
    ) as [string, number];
    const style = { style: "unit", unit, unitDisplay: "long" } as const;
    return new Intl.NumberFormat(this.locale, style).format(Math.ceil(seconds / size));
  }
}

/** A clock face for a countdown of less than a day: 14:59, or 01:04:59 from an hour on. */
export function clock(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(seconds < 3600 ? 14 : 11, 19);
}

/** The first of the given language tags that Intl takes, in its canonical spelling; else `en`. */
export function usableLocale(...tags: (string | null | undefined)[]): string {
  for (const tag of tags) {
    if (!tag) continue;
    try {
      const [locale] = Intl.getCanonicalLocales(tag.replaceAll("_", "-"));
      if (locale) return locale;
    } catch {
      // Not a language tag: the next one may be.
    }
  }
  return "en";
}
