const canFormat = (tag: string): boolean => {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
};

/**
 * Returns the locale of one of Medusa's languages, such as `ptBR` or `nl`: the browser's own variant of it, if there is
 * one, such as `en-IE` for `en`.
 */
export function localeOf(language: string, browsers: readonly string[]): string {
  const tag = language.replace(/^([a-z]{2})([A-Z]{2})$/, "$1-$2");
  const variant = browsers.find((one) => one === tag || one.startsWith(`${tag}-`));
  return variant ?? (canFormat(tag) ? tag : "en");
}

/** Formats times in a language of the admin. */
export function createFormats(language: string) {
  const locale = localeOf(language, navigator.languages);
  const style = { dateStyle: "medium", timeStyle: "short" } as const;
  const clock = new Intl.DateTimeFormat(locale, style);
  const venueClock = new Intl.DateTimeFormat(locale, { ...style, timeZone: "UTC" });
  return {
    /** Formats a moment by the browser's clock. */
    time: (iso: string): string => clock.format(new Date(iso)),
    /** Formats a time at the venue; returns it as it was typed if it is invalid. */
    venueTime: (local: string): string => {
      const at = new Date(`${local}Z`);
      return Number.isNaN(at.getTime()) ? local : venueClock.format(at);
    },
  };
}
