import type { CardEntry } from "@giftcard-pay/checkout/storefront";

/**
 * Removes spaces, dashes and invisible characters from what a shopper typed, and turns full-width and Arabic digits into
 * ASCII. It keeps letters and leading zeros: number and PIN are opaque.
 */
export function normalize(typed: string): string {
  return typed
    .normalize("NFKC")
    .replace(/[\s\p{Pd}\p{Cf}\u2212]/gu, "")
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15));
}

const pinWord = /[\s,;:|/]*\b(?:pin(?:[\s-]?code)?|code)\b[\s:=.#-]*/iu;
const separator = /[\t\r\n,;|/]+/;
const address = /^[a-z][a-z0-9+.-]*:\S{12,}$/i;

/** A number of sixteen digits or more in groups of four (the last may be shorter), then a PIN. */
const grouped = /^((?:\d{4} ){3,}(\d{1,4})) (\d{3,8})$/;

/** A number or a PIN after a label. */
const labelled = /^[^\d:#]+[:#]\s*(\d[\d\s-]*)$/;

/**
 * Splits a text that holds both number and PIN: with the word PIN between them, on two lines, as two words of which the
 * first is much longer, in groups of digits, or as the address in a card's QR code. From a number or PIN alone it removes
 * the label.
 * @returns undefined if the text has none of these forms and must be left as it is; a part that is missing is empty
 */
export function parseEntry(text: string): CardEntry | undefined {
  const plain = text.normalize("NFKC").trim();
  if (address.test(plain)) return fromAddress(plain);
  // Drop a label before the number, as in "Card number: 6064…" or "Kaartnummer 6064…".
  const entry = plain.replace(/^\D*?[:#]\s*|^\D*\s(?=\d)/, "");
  for (const divider of [pinWord, separator, /\s+/]) {
    const [cardNumber = "", pin = "", third] = entry.split(divider).map(normalize).filter(Boolean);
    if (!third && cardNumber.length >= 12 && /^[^:=]{3,8}$/.test(pin)) return { cardNumber, pin };
  }
  const [, groups = "", lastGroup = "", pin = ""] = grouped.exec(entry.replace(/[\s-]+/g, " ")) ?? [];
  const cardNumber = normalize(groups);
  // A shorter or equal last part may be one more group of the number.
  if (cardNumber.length >= 16 && pin.length > lastGroup.length) return { cardNumber, pin };
  const alone = normalize(labelled.exec(plain)?.[1] ?? "");
  if (alone.length >= 12) return { cardNumber: alone, pin: "" };
  return /^\d{3,8}$/.test(alone) ? { cardNumber: "", pin: alone } : undefined;
}

/** Takes the first long run of digits as the number, and the `pin` parameter or the digits after the number as the PIN. */
function fromAddress(text: string): CardEntry | undefined {
  const [cardNumber] = /\d{12,}/.exec(text) ?? [];
  if (!cardNumber) return undefined;
  const afterNumber = text.slice(text.indexOf(cardNumber) + cardNumber.length);
  const pin = /\bpin\w*[=:/](\d+)/i.exec(text)?.[1] ?? /\d{3,8}/.exec(afterNumber)?.[0] ?? "";
  return { cardNumber, pin };
}
