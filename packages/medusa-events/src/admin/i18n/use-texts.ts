import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type en from "./en.json";
import { NAMESPACE } from "./index.js";

type Paths<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${Paths<T[K]>}`;
}[keyof T & string];

type WithoutForm<K extends string> = K extends `${infer Base}_${"one" | "other"}` ? Base : K;

/** The key of a text, such as `page.title`. The forms of a plural share one key. */
type TextKey = WithoutForm<Paths<typeof en>>;

/** Values for the placeholders of a text. */
type Values = Readonly<Record<string, string | number>> & { readonly count?: number };

/** Returns a text in the admin's language. `count` chooses its plural form. */
type Translate = (key: TextKey, values?: Values) => string;

export type Texts = ReturnType<typeof createFormats> & { readonly t: Translate };

/** Returns the texts, and formats of times, in the language that the person has chosen in the admin. */
export function useTexts(): Texts {
  const { t, i18n } = useTranslation(NAMESPACE);
  return useMemo(() => ({ t: t as unknown as Translate, ...createFormats(i18n.language) }), [t, i18n.language]);
}

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
function localeOf(language: string, browsers: readonly string[]): string {
  const tag = language.replace(/^([a-z]{2})([A-Z]{2})$/, "$1-$2");
  const variant = browsers.find((one) => one === tag || one.startsWith(`${tag}-`));
  return variant ?? (canFormat(tag) ? tag : "en");
}

/** Formats times in a language of the admin. */
function createFormats(language: string) {
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
