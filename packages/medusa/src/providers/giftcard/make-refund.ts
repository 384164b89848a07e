import type { Charge } from "@giftcard-pay/checkout/store";
import type { BigNumberInput } from "@medusajs/framework/types";
import { MathBN } from "@medusajs/framework/utils";
import { isCents, toCents } from "../../amount.js";
import type { GiftcardContext } from "../../context/context.js";
import { refusal } from "../../errors.js";
import { readRefunds } from "../../medusa-tables/payments.js";
import { referencesOf } from "../../refund-metadata.js";

/**
 * Makes a refund that Medusa has written down, and earlier ones that were begun and not made. Idempotent per refund.
 * @param asked the id of Medusa's refund, and its amount in major units
 * @returns the charges that were reversed for it, or whose reversal is owed
 * @throws {RefundError} if no charges add up to the amount
 * @throws {MedusaError} for an amount that isn't whole cents, or if there is no such payment
 */
export async function makeRefund(
  { engine, sql }: GiftcardContext,
  sessionId: string,
  asked: { readonly id: string; readonly amount: BigNumberInput },
): Promise<Charge[]> {
  const payment = await readRefunds(sql, sessionId);
  if (!payment) throw refusal("There is no such payment. Nothing was refunded.");
  const { refunds } = payment;
  const at = refunds.findIndex(({ id }) => id === asked.id);
  const before = at < 0 ? refunds : refunds.slice(0, at);
  const booked = [...refunds.map(({ id }) => id), asked.id];
  let left: BigNumberInput = payment.amount;
  const make = async (refund: { id: string; amount: BigNumberInput; metadata: unknown }) => {
    const { id, amount, metadata } = refund;
    if (!isCents(amount)) throw refusal("A gift card is refunded in whole cents. Nothing was refunded.");
    const charges = await engine.journal.chargesOfPayment(sessionId);
    const open = charges.filter(({ refundId }) => refundId === id || !booked.includes(refundId ?? ""));
    // A refund of everything that is left reverses all charges, whatever amount Medusa's books have come to.
    const isAll = MathBN.eq(amount, left);
    const amountCents = isAll ? open.reduce((sum, charge) => sum + charge.amountCents, 0) : toCents(amount);
    left = MathBN.sub(left, amount);
    return engine.refund(sessionId, { id, amountCents, references: referencesOf(metadata), booked });
  };
  for (const refund of before) await make(refund);
  return make({ ...asked, metadata: refunds[at]?.metadata ?? null });
}
