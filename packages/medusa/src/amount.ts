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

/** What is left of a raw total after `amountCents` of it; keeps the fractions of a cent that the total has. */
export function lessCents(total: BigNumberInput, amountCents: number): BigNumber {
  return new BigNumber(MathBN.sub(total, fromCents(amountCents)));
}
