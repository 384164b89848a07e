import type { CardEntry } from "@giftcard-pay/checkout/storefront";

/**
 * What a shopper typed, without what people and keyboards add to it: spaces, dashes, invisible characters,
 * and full-width digits. Letters and leading zeros stay: number and PIN are opaque.
 */
export function tidy(typed: string): string {
  return typed.normalize("NFKC").replace(/[\s\p{Pd}\p{Cf}\u2212]/gu, "");
}

const pinWord = /[\s,;:|/]*\b(?:pin(?:[\s-]?code)?|code)\b[\s:=.#-]*/iu;
const separator = /[\t\r\n,;|/]+/;

/**
 * Takes number and PIN apart when they were pasted together: with the word PIN between them, on two lines, or
 * as two words of which the first is much longer.
 * @returns undefined if the text is no such pair; it is then pasted as it stands
 */
export function splitPasted(text: string): CardEntry | undefined {
  const plain = text.normalize("NFKC").trim();
  for (const by of [pinWord, separator, /\s+/]) {
    const parts = plain.split(by).filter((part) => part.trim() !== "");
    if (parts.length !== 2) continue;
    const [first = "", second = ""] = parts;
    // A label before the number ("Card number: 6064…") isn't part of it.
    const cardNumber = tidy(first.replace(/^\D*?[:#]\s*/, ""));
    const pin = tidy(second);
    if (cardNumber.length >= 12 && pin.length >= 3 && pin.length <= 8) return { cardNumber, pin };
  }
  return undefined;
}
