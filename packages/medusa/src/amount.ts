import { formatCents } from "@giftcard-pay/client";
import type { BigNumberInput } from "@medusajs/framework/types";
import { BigNumber, MathBN } from "@medusajs/framework/utils";

/** bignumber.js's ROUND_HALF_UP: truncating would make 1998 of 19.99. */
const ROUND_HALF_UP = 4;

/**
 * Decimals of a cent in which Medusa's arithmetic is exact. Dividing a tax out of a price leaves residue far behind
 * them: 22.454999999999999885 is 22.455, which is 2246 cents.
 */
const EXACT_DECIMALS = 6;

/**
 * Converts Medusa's major units to whole cents, rounding half up. Medusa's totals have residue and fractions of a
 * cent, but buyers pay whole cents. Use this function or `centsSql` for every Medusa amount that affects money.
 */
export const toCents = (amount: BigNumberInput): number =>
  withoutResidue(amount).integerValue(ROUND_HALF_UP).toNumber();

const withoutResidue = (amount: BigNumberInput) =>
  MathBN.mult(amount, 100).decimalPlaces(EXACT_DECIMALS, ROUND_HALF_UP);

/** Tells whether two amounts in major units are equal, fractions of a cent included. */
export const isSameAmount = (a: BigNumberInput, b: BigNumberInput): boolean => withoutResidue(a).eq(withoutResidue(b));

/** Tells whether an amount is a cent at most. Medusa itself ignores such a difference. */
export const isCentAtMost = (amount: BigNumberInput): boolean => withoutResidue(amount).abs().lte(1);

/** Converts an SQL expression in major units in the same way. */
export const centsSql = (amount: string): string => `round(round((${amount}) * 100, ${EXACT_DECIMALS}))`;

export function fromCents(amountCents: number): BigNumber {
  return new BigNumber(MathBN.div(amountCents, 100));
}

/** Writes cents in euros, such as `12.50`. */
export const euro = (cents: number): string => formatCents(cents as never);

export const isCents = (amount: BigNumberInput): boolean => MathBN.mult(amount, 100).isInteger();
