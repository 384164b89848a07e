import { RefundError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { capturePayment } from "../capture/captures.js";
import { withCartLock } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { scanOnly } from "../medusa-tables/scan.js";
import { findUnrecorded, isRecorded, type UnrecordedPayment } from "../medusa-tables/unrecorded-payments.js";
import { makeRefund } from "../providers/giftcard/provider.js";
import { recordEntry } from "./record-entry.js";

/** Finishes a capture or refund that was begun, while nobody else changes its order. */
export const recordPayment = (container: MedusaContainer, entry: UnrecordedPayment): Promise<void> =>
  withCartLock(container, entry.cartId, () => finish(container, entry));

/**
 * Finishes the card refunds that were begun for the orders of a cart, before anything else is refunded. Medusa would take
 * them for a part of what comes next.
 * @param cartId the caller has its lease
 * @throws the error of one of them
 */
export async function finishBegunRefunds(container: MedusaContainer, cartId: string): Promise<void> {
  const { sql } = contextOf(container);
  const begun = (await findUnrecorded(scanOnly(sql, cartId))).filter(({ kind }) => kind === "refund");
  for (const entry of begun) await finish(container, entry);
}

/** Does what was begun, unless the journal says that it was done, and writes it into the order. */
async function finish(container: MedusaContainer, entry: UnrecordedPayment): Promise<void> {
  // Another process may have finished it since it was found. With the lease, that can no longer change.
  if (await isRecorded(contextOf(container).sql, entry)) return;
  const { sessionId, entryId: id, amount, kind, isCaptured } = entry;
  if (kind === "refund" && !(await makeBegun(container, sessionId, { id, amount }))) return;
  if (kind === "capture" && !isCaptured) await capturePayment(container, entry);
  else await recordEntry(container, entry);
}

/**
 * Makes a refund that was begun. If no charges add up to it, it was never made, and never can be: Medusa would have deleted
 * it, had its process not died.
 * @returns false if it is deleted
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
