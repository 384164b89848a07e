import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { isCents, type Reason, type ReasonCode } from "../../sentences.js";
import type en from "./en.json";
import { createFormats } from "./formats.js";
import { NAMESPACE } from "./index.js";

/** Returns a text in the admin's language. `count` chooses its plural form. */
export type Translate = (key: TextKey, values?: Values) => string;

export type Texts = ReturnType<typeof createFormats> & {
  readonly t: Translate;
  /** Puts the reasons of the shop into words. */
  why(reasons: readonly Reason[]): string;
};

/** Returns the texts, and formats of amounts and times, in the language that the person has chosen in the admin. */
export function useTexts(): Texts {
  const { t, i18n } = useTranslation(NAMESPACE);
  return useMemo(() => {
    const translate = t as unknown as Translate;
    const formats = createFormats(i18n.language);
    const textOf = ({ code, values = {} }: Reason) => {
      const shown = Object.entries(values).map(([name, value]) => [
        name,
        isCents(name) ? formats.money(Number(value)) : value,
      ]);
      return translate(`why.${code}`, Object.fromEntries(shown));
    };
    return { t: translate, why: (reasons) => reasons.map(textOf).join(" "), ...formats };
  }, [t, i18n.language]);
}

type Paths<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${Paths<T[K]>}`;
}[keyof T & string];

type WithoutForm<K extends string> = K extends `${infer Base}_${"one" | "other"}` ? Base : K;

/** The key of a text, such as `charges.title`. The forms of a plural share one key. */
export type TextKey = WithoutForm<Paths<typeof en>> | `why.${ReasonCode}`;

/** Values for the placeholders of a text. */
export type Values = Readonly<Record<string, string | number>> & { readonly count?: number };
