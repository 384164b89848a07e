import { en } from "./en.js";
import type { ErrorCode, MessageOverrides, Messages } from "./messages.js";

export type { ErrorCode, MessageOverrides, Messages } from "./messages.js";

/**
 * Languages beside English, each loaded when it is first asked for. A new language is a file and a line here. The build
 * of the standalone file has `again` stand behind the file's name; where a page's bundler names it, that can't be.
 */
const loaders: Record<string, (again: string) => Promise<Messages>> = {
  nl: async (_again) => (await import("./nl.js")).nl,
  de: async (_again) => (await import("./de.js")).de,
  fr: async (_again) => (await import("./fr.js")).fr,
};

const loaded = new Map<string, Messages>([["en", en]]);
const loading = new Map<string, Promise<void>>();
/** Chromium takes an address that failed once for failed as long as the page is open, so the next try has another. */
let again = "";

/** When a language that couldn't be loaded is asked for again, at the earliest. */
const retryMs = 10_000;

/** The part of a locale that names a built-in language; `en` for any that isn't built in. */
export function builtInLanguage(locale: string): string {
  const language = locale.split("-")[0] ?? "en";
  return Object.hasOwn(loaders, language) ? language : "en";
}

/** The texts of a built-in language, as far as they are loaded; English until then. */
export function messagesOf(language: string): Messages {
  return loaded.get(language) ?? en;
}

/** Whether a language is there, so that its texts are shown. */
export function isLoaded(language: string): boolean {
  return loaded.has(language);
}

/**
 * Loads a built-in language. Where that fails, English serves until it is asked for again, some seconds later. Returns
 * nothing to wait for if it is there already.
 */
export function loadMessages(language: string): Promise<void> | undefined {
  const load = isLoaded(language) ? undefined : loaders[language];
  if (load && !loading.has(language)) {
    const done = load(again).then(
      (messages) => void loaded.set(language, messages),
      () => {
        again = `?${Date.now()}`;
        setTimeout(() => loading.delete(language), retryMs);
      },
    );
    loading.set(language, done);
  }
  return load && loading.get(language);
}

/** Lays a page's own texts over a language. */
export function withOverrides(messages: Messages, overrides: MessageOverrides): Messages {
  return { ...messages, ...overrides, errors: { ...messages.errors, ...overrides.errors } };
}

/** Whether a code that a shop sent is one that has a text here. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(en.errors, code);
}
