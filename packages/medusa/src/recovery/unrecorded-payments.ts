import { RefundError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MathBN, MedusaError, Modules } from "@medusajs/framework/utils";
import { capturePayment } from "../capture/captures.js";
import { withCartLock, withOrderLease } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { decideOrder } from "../medusa-tables/bulk-refunds.js";
import { readPending } from "../medusa-tables/order-refund.js";
import { readOpenChange } from "../medusa-tables/orders.js";
import { scanOnly } from "../medusa-tables/scan.js";
import {
  findUnrecorded,
  isRecorded,
  isWaived,
  type UnknownRefund,
  type UnrecordedPayment,
} from "../medusa-tables/unrecorded-payments.js";
import { BULK_REFUND } from "../names.js";
import { makeRefund } from "../providers/giftcard/provider.js";
import { addCreditLine, endCreditLines } from "./credit-lines.js";

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

const CHANGING = "An edit, return, exchange, claim or transfer of the order is open: confirm or cancel it.";

/** A capture or refund, as Medusa wrote it next to its payment. */
type Entry = Pick<UnrecordedPayment, "orderId" | "kind" | "entryId" | "currency" | "amount">;

/**
 * Writes a capture or refund into its order, as Medusa does last. The part of a refund that exceeds what the order owed is
 * waived first, so that the next run can finish what a crash leaves in between.
 * @throws {MedusaError} if something has to be waived, and the order takes no change now
 */
async function recordEntry(container: MedusaContainer, entry: Entry): Promise<void> {
  const { orderId, kind, entryId, currency, amount } = entry;
  if (kind === "refund") await waiveBeyond(container, entry);
  await container.resolve(Modules.ORDER).addOrderTransactions([
    {
      order_id: orderId,
      amount: kind === "refund" ? MathBN.mult(amount, -1) : MathBN.convert(amount),
      currency_code: currency,
      reference: kind,
      reference_id: entryId,
    },
  ]);
}

/** Waives what a refund exceeds. A canceled order needs no waiver. */
async function waiveBeyond(container: MedusaContainer, { orderId, entryId, amount }: Entry): Promise<void> {
  const { sql } = contextOf(container);
  const isEnded = await endCreditLines(container, orderId);
  if (await isWaived(sql, orderId, entryId)) return;
  const { pending, isCanceled } = await readPending(sql, orderId);
  const beyond = MathBN.sub(amount, MathBN.max(0, MathBN.mult(pending, -1)));
  if (isCanceled || MathBN.lte(beyond, 0)) return;
  if (!isEnded || (await readOpenChange(sql, orderId))) throw new MedusaError(MedusaError.Types.NOT_ALLOWED, CHANGING);
  // The line names its refund, so that `isWaived` finds it.
  await addCreditLine(container, orderId, { reference: "refund", referenceId: entryId, amount: beyond });
}

/** Tells a person to find out what became of a refund. */
const UNKNOWN_REFUND =
  "A refund by the other payment method was begun, and nobody knows whether it was made. Look at the payment method, " +
  "and say whether the money went back.";

/**
 * Makes Medusa forget a refund by another method that was not made. The order then owes the money as before. Only a person
 * who has checked the method can decide that, since a refund is requested only once. This refunds nothing: a second
 * request could fail in the same way, and hide that the outcome is unknown.
 * @throws {MedusaError} UNKNOWN_REFUND if nobody has
 */
export async function forgetRefund(container: MedusaContainer, refund: UnknownRefund, isAsked: boolean): Promise<void> {
  if (!isAsked) throw new MedusaError(MedusaError.Types.UNEXPECTED_STATE, UNKNOWN_REFUND);
  await decideOnce(container, refund, () => container.resolve(Modules.PAYMENT).deleteRefunds([refund.refundId]));
}

/** Records a refund in its order, after a person has found that it was made. A bulk refund of the order continues. */
export async function bookRefund(container: MedusaContainer, refund: UnknownRefund): Promise<void> {
  const { refundId: entryId, orderId, currency, amount, metadata } = refund;
  await decideOnce(container, refund, () =>
    recordEntry(container, { kind: "refund", entryId, orderId, currency, amount }),
  );
  const bulkRefundId = metadata?.[BULK_REFUND];
  if (typeof bulkRefundId === "string") await decideOrder(contextOf(container).sql, { bulkRefundId, orderId }, "open");
}

/** Acts on a decision once, while nobody else changes the order. */
const decideOnce = (
  container: MedusaContainer,
  { refundId: entryId, paymentId, orderId }: UnknownRefund,
  act: () => Promise<void>,
): Promise<void> =>
  withOrderLease(container, orderId, async () => {
    const { sql } = contextOf(container);
    const [known] = await container.resolve(Modules.PAYMENT).listRefunds({ id: entryId });
    if (known && !(await isRecorded(sql, { entryId, paymentId, orderId, kind: "refund" }))) await act();
  });
