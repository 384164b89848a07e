import type { Charge } from "@giftcard-pay/checkout";
import type { BigNumberInput } from "@medusajs/framework/types";
import { MathBN, MedusaError } from "@medusajs/framework/utils";
import { isCents, isWhole, toCents } from "../../amount.js";
import type { GiftcardContext } from "../../context/context.js";
import { readRefunds } from "../../medusa-tables/payments.js";
import { referencesOf } from "../../refund-metadata.js";

const sumOf = (charges: readonly Charge[]) => charges.reduce((sum, { amountCents }) => sum + amountCents, 0);

/**
 * Makes a refund that Medusa has written down, and those before it that were begun and not made: what a payment has left
 * is what none of them has asked for. Done twice it is done once.
 *
 * @param sessionId the payment session of the card
 * @param asked the id of Medusa's refund, and its amount in major units
 * @returns the charges that went back for it, or are owed
 * @throws {RefundError} where no charges make up the sum
 * @throws {MedusaError} for an amount that isn't of whole cents, or where there is no such payment
 */
export async function makeRefund(
  { engine, runSql }: GiftcardContext,
  sessionId: string,
  asked: { readonly id: string; readonly amount: BigNumberInput },
): Promise<Charge[]> {
  const payment = await readRefunds(runSql, sessionId);
  if (!payment) throw refusal("There is no such payment.");
  const at = payment.refunds.findIndex(({ id }) => id === asked.id);
  const before = at < 0 ? payment.refunds : payment.refunds.slice(0, at);
  const booked = [...payment.refunds.map(({ id }) => id), asked.id];
  let left: BigNumberInput = payment.amount;
  const make = async ({
    id,
    amount,
    metadata,
  }: {
    id: string;
    amount: BigNumberInput;
    metadata: unknown;
  }) => {
    const charges = await engine.journal.chargesOfPayment(sessionId);
    const own = charges.filter(({ refundId }) => refundId === id);
    const open = charges.filter(({ refundId }) => refundId === null || !booked.includes(refundId));
    const amountCents = centsOf(amount, left, sumOf(own) + sumOf(open));
    left = MathBN.sub(left, amount);
    return engine.refund(sessionId, { id, amountCents, references: referencesOf(metadata), booked });
  };
  for (const refund of before) await make(refund);
  const metadata = payment.refunds[at]?.metadata ?? null;
  return make({ ...asked, metadata });
}

/**
 * The whole cents of a refund. A payment may have a fraction of a cent, and its charges don't: that goes with all that is
 * left of it.
 */
function centsOf(amount: BigNumberInput, left: BigNumberInput, openCents: number): number {
  if (isWhole(amount, left)) return openCents;
  if (isCents(amount)) return toCents(amount);
  throw refusal("A gift card is refunded in whole cents.");
}

const refusal = (message: string) =>
  new MedusaError(MedusaError.Types.NOT_ALLOWED, `${message} Nothing was refunded.`, "invalid_request");
