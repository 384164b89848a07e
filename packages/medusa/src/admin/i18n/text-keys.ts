import type { ReasonCode } from "../../sentences.js";
import type en from "./en.json";

type Paths<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${Paths<T[K]>}`;
}[keyof T & string];

type WithoutForm<K extends string> = K extends `${infer Base}_${"one" | "other"}` ? Base : K;

/** The key of a text, such as `charges.title`. The forms of a plural share one key. */
export type TextKey = WithoutForm<Paths<typeof en>> | `why.${ReasonCode}`;

/** Values for the placeholders of a text. */
export type Values = Readonly<Record<string, string | number>> & { readonly count?: number };
