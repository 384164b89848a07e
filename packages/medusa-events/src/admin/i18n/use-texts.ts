import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { createFormats } from "./formats.js";
import { NAMESPACE } from "./namespace.js";
import type { TextKey, Values } from "./text-keys.js";

/** Returns a text in the admin's language. `count` chooses its plural form. */
export type Translate = (key: TextKey, values?: Values) => string;

export type Texts = ReturnType<typeof createFormats> & { readonly t: Translate };

/** Returns the texts, and formats of times, in the language that the person has chosen in the admin. */
export function useTexts(): Texts {
  const { t, i18n } = useTranslation(NAMESPACE);
  return useMemo(() => ({ t: t as unknown as Translate, ...createFormats(i18n.language) }), [t, i18n.language]);
}
