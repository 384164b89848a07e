import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { isCents, type Reason } from "../../sentences.js";
import { createFormats } from "./formats.js";
import { NAMESPACE } from "./namespace.js";
import type { TextKey, Values } from "./text-keys.js";

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
