import { en } from "./en.js";
import type { ErrorCode, MessageOverrides, Messages } from "./messages.js";

export type { ErrorCode, MessageOverrides, Messages } from "./messages.js";

/**
 * Loaders of all languages but English. To add a language, add a file and a line here. In the standalone file the build
 * appends `query` to the file's URL; a page's bundler uses URLs of its own.
 */
const loaders: Record<string, (query: string) => Promise<Messages>> = {
  nl: async (_query) => (await import("./nl.js")).nl,
  de: async (_query) => (await import("./de.js")).de,
  fr: async (_query) => (await import("./fr.js")).fr,
};

const loaded = new Map<string, Messages>([["en", en]]);
const loading = new Map<string, Promise<void>>();
/** Changes after a failure: Chromium caches a failed import until the page is reloaded, so a retry needs another URL. */
let retryQuery = "";

/** The time after a failure before a language is requested again. */
const retryMs = 10_000;

/** Returns the codes of all built-in languages. */
export const builtInLanguages = (): string[] => ["en", ...Object.keys(loaders)];

/** Returns the language of a locale if it is built in, else `en`. */
export function builtInLanguage(locale: string): string {
  const language = locale.split("-")[0] ?? "en";
  return Object.hasOwn(loaders, language) ? language : "en";
}

/** Returns the texts of a built-in language, or the English ones until they are loaded. */
export function messagesOf(language: string): Messages {
  return loaded.get(language) ?? en;
}

/** Returns whether the texts of a language are loaded. */
export function isLoaded(language: string): boolean {
  return loaded.has(language);
}

/**
 * Loads a built-in language. After a failure, English is shown, and a later call tries again once `retryMs` have passed.
 * @returns undefined if there is nothing to wait for
 */
export function loadMessages(language: string): Promise<void> | undefined {
  const load = isLoaded(language) ? undefined : loaders[language];
  if (load && !loading.has(language)) {
    const done = load(retryQuery).then(
      (messages) => void loaded.set(language, messages),
      () => {
        retryQuery = `?${Date.now()}`;
        setTimeout(() => loading.delete(language), retryMs);
      },
    );
    loading.set(language, done);
  }
  return load && loading.get(language);
}

/** Overrides the texts of a language with a page's own. */
export function withOverrides(messages: Messages, overrides: MessageOverrides): Messages {
  return { ...messages, ...overrides, errors: { ...messages.errors, ...overrides.errors } };
}

/** Returns whether the widget has a text for a code that a shop sent. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(en.errors, code);
}
