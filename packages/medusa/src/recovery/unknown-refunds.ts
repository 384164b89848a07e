import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { withOrderLease } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { isRecorded, type UnknownRefund } from "../medusa-tables/unrecorded-payments.js";
import { BULK_REFUND } from "../refund-metadata.js";
import { decideOrder } from "../refunds/bulk-store.js";
import { recordEntry } from "./unrecorded-payments.js";

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
