declare const centsBrand: unique symbol;

/** An amount of euro money in whole cents. Make one with {@link cents}. */
export type Cents = number & { readonly [centsBrand]: true };

/** The maximum deduction of one devalue: 50.00 euro (interface, "Limits"). */
export const MAX_DEDUCTION_CENTS = 5000 as Cents;

/** The largest order amount a devalue accepts: one million euro. */
export const MAX_AMOUNT_CENTS = 100_000_000 as Cents;

/**
 * Converts a number to an amount in cents.
 *
 * @param value whole cents, zero or more, at most 2^53 - 1
 * @throws {RangeError} if the value is not such a number
 */
export function cents(value: number): Cents {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError("An amount is a whole number of cents, zero or more.");
  }
  return value as Cents;
}

/** Formats cents as euros with two decimals, without a currency sign: 4998 is "49.98". */
export function formatCents(amountCents: number): string {
  const sign = amountCents < 0 ? "-" : "";
  const digits = String(Math.abs(amountCents)).padStart(3, "0");
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
