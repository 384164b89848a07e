import { useDisplayLocale } from "@vendure/dashboard";
import { useMemo } from "react";
import de from "./de.json";
import en from "./en.json";
import fr from "./fr.json";
import nl from "./nl.json";

type Paths<T> = { [K in keyof T & string]: T[K] extends string ? K : `${K}.${Paths<T[K]>}` }[keyof T & string];

/** The key of a text, such as `charge.title`. The forms of a plural share one key. */
type TextKey = Paths<typeof en> extends infer K ? (K extends `${infer Base}_${"one" | "other"}` ? Base : K) : never;

/** Values for the placeholders of a text. `count` chooses its plural form. */
type Values = Readonly<Record<string, string | number>> & { readonly count?: number };

interface Tree {
  readonly [key: string]: string | Tree;
}

/*
 * Not the dashboard's own catalogs: a production build shows the hash of a text in every language that has no translation. Only
 * the title in the navigation is in the `.po` files next to this one, because the dashboard translates it itself.
 */
const languages: Readonly<Record<string, Tree>> = { de, en, fr, nl };

/** Finds a text; undefined if there is none. */
function find(tree: Tree, key: string): string | undefined {
  const found = key
    .split(".")
    .reduce<string | Tree | undefined>((at, name) => (typeof at === "object" ? at[name] : at), tree);
  return typeof found === "string" ? found : undefined;
}

/** Creates texts, and formats of amounts and times, for a locale such as `nl-BE`. Other languages get the English texts. */
function createTexts(locale: string) {
  const language = locale.split("-")[0] ?? "";
  const texts = languages[language] ?? en;
  const plural = new Intl.PluralRules(language in languages ? language : "en");
  const euro = new Intl.NumberFormat(locale, { style: "currency", currency: "EUR" });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  /** Returns the text of a key, or undefined. */
  const look = (key: string, values: Values = {}): string | undefined => {
    const { count } = values;
    const form = count === undefined ? undefined : find(texts, `${key}_${plural.select(count)}`);
    return (form ?? find(texts, key))?.replace(/\{\{(\w+)\}\}/g, (_all, name) => String(values[name] ?? ""));
  };
  return {
    t: (key: TextKey, values?: Values): string => look(key, values) ?? key,
    /** Returns the text of a code in a group such as `states`, or the code itself if the plugin is newer than the text. */
    codeText: (group: "states" | "reasons" | "actions" | "purchaseStates", code: string): string =>
      look(`${group}.${code}`) ?? code,
    /** Formats cents as an amount in euro; a dash if it isn't known. */
    money: (cents: number | null): string => (cents === null ? "–" : euro.format(cents === 0 ? 0 : cents / 100)),
    /** Formats a moment by the browser's clock. */
    time: (iso: string | null): string => (iso === null ? "–" : moment.format(new Date(iso))),
  };
}

/** The title in the navigation. The dashboard translates it by the `.po` files. */
export const NAV_TITLE = "Gift cards";

export type Texts = ReturnType<typeof createTexts>;

/** Returns the texts and formats in the dashboard's language. */
export function useTexts(): Texts {
  const { bcp47Tag } = useDisplayLocale();
  return useMemo(() => createTexts(bcp47Tag), [bcp47Tag]);
}
