import { RefundError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { capturePaymentWorkflow } from "@medusajs/medusa/core-flows";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { scanOnly } from "../medusa-tables/scan.js";
import { findUnrecorded, isRecorded, type UnrecordedPayment } from "../medusa-tables/unrecorded-payments.js";
import { makeRefund } from "../providers/giftcard/make-refund.js";
import { recordEntry } from "./record-entry.js";

/** Does what was begun, where the journal says that it wasn't done, and writes it into the order; once, in its turn at the cart. */
export async function recordPayment(container: MedusaContainer, entry: UnrecordedPayment): Promise<void> {
  const release = await contextOf(container).leases.wait(entry.cartId, PATIENCE_MS);
  try {
    await recordInTurn(container, entry);
  } finally {
    await release();
  }
}

/**
 * Ends the refunds of cards that were begun for the orders of a cart and not finished, before anything else is refunded:
 * Medusa would take them for a part of what comes next.
 *
 * @param cartId its turn is the caller's
 * @throws what one of them fails with
 */
export async function finishRefunds(container: MedusaContainer, cartId: string): Promise<void> {
  const { sql } = contextOf(container);
  const begun = (await findUnrecorded(scanOnly(sql, cartId))).filter(({ kind }) => kind === "refund");
  for (const entry of begun) await recordInTurn(container, entry);
}

/**
 * Makes a refund that was begun. One that no charges make up was never made, and never can be: Medusa would have taken it
 * back, had it not died before.
 *
 * @returns false where it is taken back
 */
async function makeBegun(
  container: MedusaContainer,
  sessionId: string,
  refund: { readonly id: string; readonly amount: string },
): Promise<boolean> {
  const giftcard = contextOf(container);
  try {
    await makeRefund(giftcard, sessionId, refund);
    return true;
  } catch (error) {
    const charges = await giftcard.engine.journal.chargesOfPayment(sessionId);
    const isBegun = charges.some(({ refundId }) => refundId === refund.id);
    if (isBegun || !(error instanceof RefundError)) throw error;
    await container.resolve(Modules.PAYMENT).deleteRefunds([refund.id]);
    return false;
  }
}

async function recordInTurn(container: MedusaContainer, entry: UnrecordedPayment): Promise<void> {
  const giftcard = contextOf(container);
  // Looked at once more now that nobody else writes it: another process may have done so since it was found.
  if (await isRecorded(giftcard.sql, entry)) return;
  const { sessionId, entryId: id, amount, kind, isCaptured } = entry;
  // While the service is down the card is owed its money, as after any refund.
  if (kind === "refund" && !(await makeBegun(container, sessionId, { id, amount }))) return;
  if (kind === "capture" && !isCaptured) await captureAnew(container, entry);
  else await recordEntry(container, entry);
}

/** Medusa takes the half-made capture for made, and makes no other beside it. The card is charged already. */
async function captureAnew(
  container: MedusaContainer,
  { entryId, paymentId }: UnrecordedPayment,
): Promise<void> {
  await container.resolve(Modules.PAYMENT).deleteCaptures([entryId]);
  await capturePaymentWorkflow(container).run({ input: { payment_id: paymentId } });
}
