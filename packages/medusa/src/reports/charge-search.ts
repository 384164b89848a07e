import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { ChargeMatch } from "@giftcard-pay/checkout/store";
import { findChargedCarts, findOrdersByNumber } from "../medusa-tables/charge-search.js";

/** PostgreSQL's largest integer, the type of a display number. */
const MAX_NUMBER = 2_147_483_647;
const MAX_LENGTH = 320;

/**
 * Finds out what a person searches charges for:
 *
 * - `5398`: a card's last four digits, or the order #5398
 * - `#12`, `12`, or an order's id
 * - a customer's e-mail
 * - `24.98` or `24,98`: the amount of a charge, or of its card's whole payment
 * - a charge's reference
 *
 * @throws {RangeError} if the text is too long
 */
export async function readSearch(sql: Sql, text: string): Promise<ChargeMatch> {
  const wanted = text.trim().replace(/^[•*.\s]+(?=\d{4}$)/, "");
  if (wanted.length > MAX_LENGTH) throw new RangeError(`q has at most ${MAX_LENGTH} characters.`);
  if (wanted.includes("@")) return { cartIds: await findChargedCarts(sql, { email: wanted }) };
  const lastFour = /^\d{4}$/.test(wanted) ? wanted : undefined;
  const number = /^#?([1-9]\d{0,9})$/.exec(wanted)?.[1];
  if (lastFour !== undefined || number !== undefined) {
    const isNumber = number !== undefined && Number(number) <= MAX_NUMBER;
    const orderIds = isNumber ? await findOrdersByNumber(sql, Number(number)) : [];
    return { orderIds, ...(lastFour !== undefined && { lastFour }) };
  }
  const [, euros, cents] = /^(?:€\s*)?(\d{1,5})[.,](\d\d)(?:\s*€)?$/.exec(wanted) ?? [];
  if (euros !== undefined) return { amountCents: Number(euros) * 100 + Number(cents) };
  return { orderIds: [wanted], reference: wanted };
}
