import { type Cents, cents } from "@giftcard-pay/client/contract";

/** The fault of a text that is no amount. */
export const PRICE_FORM = "must be an amount in euros, such as 24.50";

const CURRENCY = /^(?:€|EUR)\s*|\s*(?:€|EUR|euro)$/gi;
/** The Dutch `12,-`: no cents. */
const NO_CENTS = /[.,][-–—]+$/;
const PLAIN = /^(\d{1,6})(?:[.,](\d{1,2}))?$/;
const GROUPED = /^([1-9]\d{0,2})([.,' ’])(\d{3})(?:([.,])(\d{1,2}))?$/;

/**
 * Reads an amount as people write it: `24.5`, `€ 12,50`, `12,-`, `1.250,00`, `1,250.00`, `1 250,00`. A separator with three
 * digits after it, as in `1.250`, can mean thousands or a fraction. Such an amount is a fault.
 */
export function readEuros(text: string): { cents: Cents } | { fault: string } {
  const digits = text.replaceAll(/\s/g, " ").trim().replaceAll(CURRENCY, "").replace(NO_CENTS, "");
  const plain = PLAIN.exec(digits);
  if (plain) return { cents: centsOf(plain[1], plain[2]) };
  const [, thousands, separator = "", hundreds, decimal, fraction] = GROUPED.exec(digits) ?? [];
  if (hundreds === undefined || separator === decimal) return { fault: PRICE_FORM };
  if (decimal === undefined && /[.,]/.test(separator))
    return {
      fault: `can mean ${thousands}${hundreds} euros or ${thousands}.${hundreds}. Write ${thousands}${hundreds}.00 for the first`,
    };
  return { cents: centsOf(`${thousands}${hundreds}`, fraction) };
}

const centsOf = (euros = "0", fraction = "") => cents(Number(euros) * 100 + Number(fraction.padEnd(2, "0")));
