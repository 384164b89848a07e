import { en } from "./en.js";
import { loaders } from "./loaders.js";
import type { ErrorCode, MessageOverrides, Messages } from "./messages.js";

export type { ErrorCode, MessageOverrides, Messages } from "./messages.js";

const loaded = new Map<string, Messages>([["en", en]]);
const loading = new Map<string, Promise<void>>();

/** Returns the codes of all built-in languages. */
export const builtInLanguages = (): string[] => ["en", ...Object.keys(loaders)];

/** Returns the language of a locale, such as `nl` of `nl-BE`. */
export const languageOf = (locale: string): string => locale.replace(/-.*/, "");

/** Loads a built-in language, once. If that fails, English stays. @returns undefined if there is nothing to wait for */
export function loadMessages(language: string): Promise<void> | undefined {
  const load = loaded.has(language) ? undefined : loaders[language];
  if (load && !loading.has(language)) {
    const keep = (module: Record<string, Messages>) => void loaded.set(language, module[language] as Messages);
    loading.set(
      language,
      load().then(keep, () => {}),
    );
  }
  return load && loading.get(language);
}

/**
 * Returns the texts for a locale, and the locale for their amounts and dates, so that all are in one language. That is
 * English if the language is not loaded or not built in, unless the page's own texts replace all of the English ones.
 */
export function textsFor(locale: string, own: MessageOverrides | null | undefined): [locale: string, texts: Messages] {
  const builtIn = loaded.get(languageOf(locale));
  const [given, errors] = [textsOf(own), textsOf(own?.errors)];
  const all = { ...given, ...errors };
  const isShown = builtIn || Object.keys({ ...en, ...en.errors }).every((name) => name === "errors" || name in all);
  const texts = builtIn ?? en;
  return [isShown ? locale : "en", { ...texts, ...given, errors: { ...texts.errors, ...errors } }];
}

/** Returns the texts of a page's own messages. Frameworks also set what is left out, as undefined or null. */
const textsOf = (own: object | null | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(own ?? {}).filter(([, text]) => typeof text === "string"));

/** Returns whether the widget has a text for a code that a shop sent. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(en.errors, code);
}
