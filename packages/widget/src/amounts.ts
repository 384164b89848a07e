/** Writes amounts, dates and durations the way a locale does. */
export class Amounts {
  readonly #currency: Intl.NumberFormat;

  /** @param locale a BCP 47 tag that Intl takes */
  constructor(
    readonly locale: string,
    currency = "EUR",
  ) {
    this.#currency = new Intl.NumberFormat(locale, { style: "currency", currency });
  }

  /** Cents as money, for example 4998 as € 49,98. */
  money(cents: number): string {
    return this.#currency.format(cents / 100);
  }

  /** A date yyyy-mm-dd in words; anything else gives an empty text. */
  date(isoDate: string): string {
    const time = /^\d{4}-\d\d-\d\d$/.test(isoDate) ? Date.parse(isoDate) : Number.NaN;
    if (Number.isNaN(time)) return "";
    return new Intl.DateTimeFormat(this.locale, { dateStyle: "long", timeZone: "UTC" }).format(time);
  }

  /** A rough duration in words: seconds, from a minute on minutes, from two hours on hours; rounded up. */
  duration(seconds: number): string {
    const [unit, size] = seconds < 60 ? ["second", 1] : seconds < 7200 ? ["minute", 60] : ["hour", 3600];
    return new Intl.NumberFormat(this.locale, {
      style: "unit",
      unit: unit as string,
      unitDisplay: "long",
    }).format(Math.ceil(seconds / (size as number)));
  }
}

/** A clock face for a countdown: 14:59, or 1:04:59 from an hour on. */
export function clock(seconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const minutes = `${two((seconds % 3600) / 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? minutes : `${Math.floor(seconds / 3600)}:${minutes}`;
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
