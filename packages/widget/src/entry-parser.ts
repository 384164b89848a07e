import type { CardEntry } from "@giftcard-pay/checkout/storefront";

/**
 * What a shopper typed, without what people and keyboards add to it: spaces, dashes, invisible characters,
 * full-width and Arabic digits. Letters and leading zeros stay: number and PIN are opaque.
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

/** Sixteen digits or more in groups of four, of which the last may be shorter, and a group that is longer than it. */
const grouped = /^((?:\d{4} ){3,}(\d{1,4})) (\d{3,8})$/;

/** One of the two, behind a label of its own. */
const labelled = /^[^\d:#]+[:#]\s*(\d[\d\s-]*)$/;

/**
 * Takes number and PIN apart when they came together: pasted with the word PIN between them, on two lines, as two
 * words of which the first is much longer, in groups of digits, or scanned from a card as an address. One that came
 * alone loses its label.
 * @returns undefined if the text is nothing of this, and then it is meant as it stands; what isn't in it is empty
 */
export function parseEntry(text: string): CardEntry | undefined {
  const plain = text.normalize("NFKC").trim();
  if (address.test(plain)) return fromAddress(plain);
  // A label before the number ("Card number: 6064…", "Kaartnummer 6064…") isn't part of it.
  const entry = plain.replace(/^\D*?[:#]\s*|^\D*\s(?=\d)/, "");
  for (const by of [pinWord, separator, /\s+/]) {
    const [cardNumber = "", pin = "", more] = entry.split(by).map(normalize).filter(Boolean);
    if (!more && cardNumber.length >= 12 && /^[^:=]{3,8}$/.test(pin)) return { cardNumber, pin };
  }
  const [, groups = "", last = "", pin = ""] = grouped.exec(entry.replace(/[\s-]+/g, " ")) ?? [];
  const cardNumber = normalize(groups);
  if (cardNumber.length >= 16 && pin.length > last.length) return { cardNumber, pin };
  const alone = normalize(labelled.exec(plain)?.[1] ?? "");
  if (alone.length >= 12) return { cardNumber: alone, pin: "" };
  return /^\d{3,8}$/.test(alone) ? { cardNumber: "", pin: alone } : undefined;
}

/** The first long run of digits is the number; the PIN is named so, or follows. */
function fromAddress(text: string): CardEntry | undefined {
  const [cardNumber] = /\d{12,}/.exec(text) ?? [];
  if (!cardNumber) return undefined;
  const rest = text.slice(text.indexOf(cardNumber) + cardNumber.length);
  const pin = /\bpin\w*[=:/](\d+)/i.exec(text)?.[1] ?? /\d{3,8}/.exec(rest)?.[0] ?? "";
  return { cardNumber, pin };
}
