import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type en from "./en.json";
import { createFormats } from "./formats.js";
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
