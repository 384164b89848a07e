import type { CardEntry } from "@giftcard-pay/checkout/storefront";

/** Turns full-width and Arabic digits into ASCII and all dashes into one. Removes invisible characters. */
const plain = (text: string) =>
  text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/[\p{Pd}\u2212]/gu, "-")
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15));

/**
 * Removes spaces, dashes, and what scanners add (as in `*1234*` or `]C11234`) from what a shopper typed as the number. It
 * keeps letters and leading zeros: a number is opaque.
 */
export const normalize = (typed: string): string => plain(typed).replace(/\][a-z]\d|[\s*-]/gi, "");

/**
 * Removes spaces from what a shopper typed as the PIN. Marks stay, since an issuer's PINs may have any. With marks, spaces
 * stay too: it is more likely a sentence than a PIN.
 */
export const normalizePin = (typed: string): string => {
  const text = plain(typed).trim();
  return /[^\p{L}\d\s]/u.test(text) ? text : text.replace(/\s/g, "");
};

/** Whether an entry still has text that is no part of it, or number and PIN in one field. Sending it would cost an attempt. */
export const isUnclear = ({ cardNumber, pin }: CardEntry): boolean =>
  /[^\p{L}\d]|\dpin\d/iu.test(cardNumber) || /\s/.test(pin);

/** Prices, dates and times. A `€` replaces them. */
const noise =
  /(?:[€$£]|eur)\s?\d[\d.,]*|(?<![\d.-])(?:\d{1,4}[.,]\d\d|\d{1,2}(?:[./:-]\d{1,2})?[./:-]\d{2,4}|\d{4}-\d\d-\d\d|\d{1,4}(?=\s?(?:[€$£]|eur|zł)(?!\s?\d)))(?![.-]?\d)/gi;

/** Long digits alone, or short groups of digits with one character between them. */
const digitRuns = /\d{9,}|\d{1,8}(?:[ .-]\d{1,8}(?!\d))*/g;

/** A number, alone or in groups of four of which the last may be shorter. */
const numberRun = /^(?:\d+|(?:\d{4}\D){2,}(\d{1,4}))$/;

/** A number in groups, then a PIN, which is longer than the last group. */
const pairRun = /^((?:\d{4}\D){3,}(\d{1,4}))\D(\d{3,8})$/;

/** The end of a text that a PIN follows. A word for "code" counts unless another word describes it, as in "zip code". */
const pinLabel =
  /(?:(?<!\p{L})(?:pin|nip)|geheim|sicher|veilig|kras|secr|segr|s[eéi]cur|segur|zabezp|clave|confid|senha|scratch|(?<!\p{L}.?)(?:c[oó]d|kod))\p{L}*(?:.?(?:c[oó]d|kod|is|est|es|[eèé]|to)\p{L}*)?[^\p{L}\d€]*$/iu;

/**
 * Finds number and PIN in a text such as an e-mail or a scanned code. The digits decide: twelve or more are a number. Three
 * to eight are a PIN if they follow the number or a word for "PIN".
 * @returns undefined if the text has neither, or may have several; a part that is missing is empty
 */
export function parseEntry(text: string): CardEntry | undefined {
  const clean = plain(text)
    .replace(/^(?:> ?)+/gm, "")
    .replace(/\][a-z]\d/gi, "|")
    .replace(noise, "€");
  const numbers = new Set<string>();
  const pins = new Set<string>();
  /** After a number, the digits in its last group (0 without groups). After others undefined. */
  let lastGroup: number | undefined;
  /** Whether the run before is neither number nor PIN. */
  let isStray = false;
  let end = 0;
  for (const { 0: run, index } of clean.matchAll(digitRuns)) {
    const gap = clean.slice(end, index);
    const digits = run.replace(/\D/g, "");
    const { length } = digits;
    end = index + run.length;
    const isJoined = !/\S/.test(gap);
    const isPin = length > 2 && length < 9;
    const isInWord = /^(?!pin)\p{L}/iu.test(clean.slice(end));
    if (length > 11) {
      const [isNumber, group = ""] = numberRun.exec(run) ?? [];
      const [, , before = "", pin = ""] = isNumber ? [] : (pairRun.exec(run) ?? []);
      // A part of the number may be in a line or letters beside it.
      if ((!isNumber && pin.length <= before.length) || isInWord || /\p{L}$/u.test(gap) || (isStray && isJoined))
        return undefined;
      numbers.add(digits.slice(0, length - pin.length));
      if (pin) pins.add(pin);
      lastGroup = pin ? undefined : group.length;
      isStray = false;
      continue;
    }
    const follows = lastGroup !== undefined && !/[\p{L}€]/u.test(gap);
    if (
      isPin &&
      (pinLabel.test(clean.slice(0, index)) || (follows && run === digits && length > (lastGroup ?? 0) && !isInWord))
    ) {
      pins.add(digits);
      isStray = false;
    } else {
      if (follows && isJoined && (lastGroup || length > 2)) return undefined;
      isStray = length > 2;
    }
    lastGroup = undefined;
  }
  const [cardNumber = "", otherNumber] = numbers;
  const [pin = "", otherPin] = pins;
  // Digits alone may be typed into either field.
  if (otherNumber || otherPin || !(pin || (cardNumber && /[^\d\s-]/.test(clean)))) return undefined;
  return { cardNumber, pin };
}
