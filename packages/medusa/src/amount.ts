import type { BigNumberInput } from "@medusajs/framework/types";
import { BigNumber, MathBN } from "@medusajs/framework/utils";

/** bignumber.js's ROUND_HALF_UP: truncating would make 1998 of 19.99. */
const ROUND_HALF_UP = 4;

/** Medusa's major units in whole cents. Totals aren't always whole cents; gift cards are. */
export function toCents(amount: BigNumberInput): number {
  return MathBN.mult(amount, 100).integerValue(ROUND_HALF_UP).toNumber();
}

/** Whole cents in Medusa's major units. */
export function fromCents(amountCents: number): BigNumber {
  return new BigNumber(MathBN.div(amountCents, 100));
}

/**
 * Whether an amount that somebody typed is a payment's whole amount. People type whole cents: a payment with a fraction of
 * a cent is meant by the cents below it and above it. Any other fraction is another amount, and Medusa would book it.
 */
export function isWhole(typed: BigNumberInput, amount: BigNumberInput): boolean {
  const exactCents = MathBN.mult(amount, 100);
  const typedCents = MathBN.mult(typed, 100);
  const isNext = typedCents.isInteger() && MathBN.lt(MathBN.sub(exactCents, typedCents).abs(), 1);
  return isNext || MathBN.eq(typedCents, exactCents);
}

/** Whether an amount in major units is whole cents. */
export const isCents = (amount: BigNumberInput): boolean => MathBN.mult(amount, 100).isInteger();

/** What is left of a raw total after `amountCents` of it; keeps the fractions of a cent that the total has. */
export function lessCents(total: BigNumberInput, amountCents: number): BigNumber {
  return new BigNumber(MathBN.sub(total, fromCents(amountCents)));
}
