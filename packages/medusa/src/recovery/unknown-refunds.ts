import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { decideOrder } from "../journal-tables/bulk-refund-orders.js";
import { turnOfOrder } from "../medusa-tables/carts.js";
import { isRecorded, type UnknownRefund } from "../medusa-tables/unrecorded-payments.js";
import { BULK_REFUND } from "../refund-metadata.js";
import { recordEntry } from "./record-entry.js";

/** What a person is told who has to find out what became of a refund. */
export const UNKNOWN_REFUND =
  "A refund by the other payment method was begun, and nobody knows whether it was made. Look at the payment method, " +
  "and say whether the money went back.";

/**
 * A refund by another method is asked for once. Only a person who has looked can say that it wasn't made: then Medusa
 * forgets it, and the order owes the money as before. Nothing is refunded by that: the method might be asked in vain once
 * more, and the doubt would be gone.
 *
 * @param isAsked a person has looked
 * @throws {MedusaError} UNKNOWN_REFUND where nobody has
 */
export async function forgetRefund(
  container: MedusaContainer,
  refund: UnknownRefund,
  isAsked: boolean,
): Promise<void> {
  if (!isAsked) throw new MedusaError(MedusaError.Types.UNEXPECTED_STATE, UNKNOWN_REFUND);
  await decideInTurn(container, refund, () =>
    container.resolve(Modules.PAYMENT).deleteRefunds([refund.refundId]),
  );
}

/** A person has looked, and the money went back: the order gets to know of it, and a refund of many orders goes on with it. */
export async function bookRefund(container: MedusaContainer, refund: UnknownRefund): Promise<void> {
  const { refundId: entryId, orderId, currency, amount, metadata } = refund;
  await decideInTurn(container, refund, () =>
    recordEntry(container, { kind: "refund", entryId, orderId, currency, amount }),
  );
  const bulkRefundId = metadata?.[BULK_REFUND];
  if (typeof bulkRefundId === "string")
    await decideOrder(contextOf(container).sql, { bulkRefundId, orderId }, "open");
}

/** What is decided is done once, while nobody else changes the order. */
async function decideInTurn(
  container: MedusaContainer,
  { refundId: entryId, paymentId, orderId }: UnknownRefund,
  act: () => Promise<void>,
): Promise<void> {
  const { leases, sql } = contextOf(container);
  const release = await leases.wait(await turnOfOrder(sql, orderId), PATIENCE_MS);
  try {
    const [known] = await container.resolve(Modules.PAYMENT).listRefunds({ id: entryId });
    if (!known || (await isRecorded(sql, { entryId, paymentId, orderId, kind: "refund" }))) return;
    await act();
  } finally {
    await release();
  }
}
