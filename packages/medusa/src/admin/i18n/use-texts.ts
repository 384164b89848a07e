import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { findSaid, isAmount } from "../../served-texts.js";
import { createFormats } from "./formats.js";
import { NAMESPACE } from "./namespace.js";
import type { TextKey, Values } from "./text-keys.js";

/** Returns a text in the admin's language. `count` chooses its plural form. */
export type Translate = (key: TextKey, values?: Values) => string;

export type Texts = ReturnType<typeof createFormats> & {
  readonly t: Translate;
  /** Translates an answer of the shop, if it consists of sentences that the shop is known to answer. */
  served(answer: string): string;
};

const cents = (amount: string) => Math.round(Number(amount) * 100);

/** Returns the texts, and formats of amounts and times, in the language that the person has chosen in the admin. */
export function useTexts(): Texts {
  const { t, i18n } = useTranslation(NAMESPACE);
  return useMemo(() => {
    const translate = t as unknown as Translate;
    const formats = createFormats(i18n.language);
    const valuesOf = (values: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, isAmount(name) ? formats.money(cents(value)) : value]),
      );
    const served = (answer: string) =>
      findSaid(answer)
        ?.map(({ text, values }) => translate(`served.${text}`, valuesOf(values)))
        .join(" ") ?? answer;
    return { t: translate, served, ...formats };
  }, [t, i18n.language]);
}
