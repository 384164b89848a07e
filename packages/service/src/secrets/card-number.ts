import { randomInt } from "node:crypto";
import { Secret } from "@giftcard-pay/client/contract";

const LENGTH = 19;
const LEAST_RANDOM = 14;
const PIN_DIGITS = 6;

/** The default prefix: 9 and the code of the Netherlands, 528, a range for national use. */
export const DEFAULT_PREFIX = "9528";

/** The longest prefix that leaves enough random digits. */
export const MAX_PREFIX_LENGTH = LENGTH - LEAST_RANDOM - 1;

const randomDigits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join("");

/**
 * Creates a card number of 19 digits: the prefix, at least 14 random digits, and a check digit.
 *
 * @param prefix at most {@link MAX_PREFIX_LENGTH} digits
 */
export function makeCardNumber(prefix: string = DEFAULT_PREFIX): Secret {
  const body = prefix + randomDigits(LENGTH - 1 - prefix.length);
  return new Secret(body + checkDigit(body));
}

/** Creates a PIN of six digits, which may begin with zeros. */
export const makePin = () => new Secret(randomDigits(PIN_DIGITS));

/** Computes the Luhn check digit, which detects a mistyped digit and most swapped pairs. */
export function checkDigit(body: string): string {
  let sum = 0;
  for (const [index, character] of [...body].reverse().entries()) {
    const doubled = Number(character) * (index % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return String((10 - (sum % 10)) % 10);
}
