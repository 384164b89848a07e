import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { refundPaymentWorkflow } from "@medusajs/medusa/core-flows";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { cartOfOrder } from "../medusa-tables/carts.js";
import { isRecorded, type UnknownRefund } from "../medusa-tables/unrecorded-payments.js";
import { REFUND_RUN } from "../refund-metadata.js";
import { decideOrder } from "../refunds/run-store.js";
import { recordEntry } from "./record-entry.js";

/** What a person is told who has to find out what became of a refund. */
export const UNKNOWN_REFUND =
  "A refund by the other payment method was begun, and nobody knows whether it was made. Look at the payment method: where " +
  "the money went back, leave this; where it didn't, try it now.";

/**
 * A refund by another method is asked for once: only a person who has looked can say that it wasn't made, and let it be
 * made anew.
 *
 * @param isAsked a person has looked
 * @throws {MedusaError} UNKNOWN_REFUND where nobody has, and what the payment method fails with
 */
export async function repeatRefund(
  container: MedusaContainer,
  refund: UnknownRefund,
  isAsked: boolean,
): Promise<void> {
  if (!isAsked) throw new MedusaError(MedusaError.Types.UNEXPECTED_STATE, UNKNOWN_REFUND);
  const { refundId, paymentId, amount, metadata } = refund;
  await decideInTurn(container, refund, async () => {
    await container.resolve(Modules.PAYMENT).deleteRefunds([refundId]);
    const input = { payment_id: paymentId, amount, metadata };
    await refundPaymentWorkflow(container).run({ input: input as never });
  });
}

/** A person has looked, and the money went back: the order gets to know of it. */
export async function bookRefund(container: MedusaContainer, refund: UnknownRefund): Promise<void> {
  const { refundId: entryId, orderId, currency, amount } = refund;
  await decideInTurn(container, refund, () =>
    recordEntry(container, { kind: "refund", entryId, orderId, currency, amount }),
  );
}

/** What is decided is done once, while nobody else changes the order; a refund of many orders goes on with it then. */
async function decideInTurn(
  container: MedusaContainer,
  { refundId: entryId, paymentId, orderId, metadata }: UnknownRefund,
  act: () => Promise<void>,
): Promise<void> {
  const { leases, runSql: run } = contextOf(container);
  const release = await leases.wait((await cartOfOrder(run, orderId)) ?? orderId, PATIENCE_MS);
  try {
    const [known] = await container.resolve(Modules.PAYMENT).listRefunds({ id: entryId });
    if (!known || (await isRecorded(run, { entryId, paymentId, orderId, kind: "refund" }))) return;
    await act();
  } finally {
    await release();
    const runId = metadata?.[REFUND_RUN];
    if (typeof runId === "string") await decideOrder(run, { runId, orderId }, "open");
  }
}
