import type { MedusaContainer } from "@medusajs/framework/types";
import { deleteSession } from "../cart/sessions.js";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { ordersOfCart } from "../medusa-tables/carts.js";
import { readSessionPayments, type SessionPayment } from "../medusa-tables/payments.js";

/** The record of a completion, as plain data. Medusa stores it, and `voidCompletion` undoes the completion. */
export interface CompletionRecord {
  cartId: string;
  /** The order that it placed; null in `validate`, which runs before the order exists. */
  orderId: string | null;
  /** The charges that it began. */
  references: string[];
  /** The gift card sessions to delete: those of its charges, and one whose charge could not be begun. */
  sessionIds: string[];
  /** The remainder's session, authorized by the completion, or by a webhook while it charged the cards. */
  remainderSessionId: string | null;
}

/**
 * Undoes `completeWithGiftcards` after it, or a later step of the completion, failed. First it records what is owed
 * to the cards, then it cancels Medusa's payments. A failure doesn't stop the other parts. Never throws.
 */
export async function voidCompletion(
  record: CompletionRecord | null | undefined,
  { container }: { container: MedusaContainer },
): Promise<void> {
  if (!record) return;
  const { engine, sql } = contextOf(container);
  const tryTo = async (what: string, action: () => Promise<unknown>) => {
    await action().catch((error: unknown) => {
      const logger = contextOf(container).logger;
      logger.error(`giftcard: ${what} of cart ${record.cartId} failed: ${nameOf(error)}`);
    });
  };
  for (const reference of record.references) {
    await tryTo("the reversal", () => engine.void(reference, { orderIsGone: true }));
  }
  const { cartId, orderId, sessionIds, remainderSessionId } = record;
  const ids = remainderSessionId === null ? sessionIds : [...sessionIds, remainderSessionId];
  if (ids.length === 0) return;
  let found: SessionPayment[] = [];
  await tryTo("reading the payments", async () => {
    found = await readSessionPayments(sql, ids);
  });
  // If the cart has another order, this completion stalled so long that another one has replaced it.
  const isAlone = async () => (await ordersOfCart(sql, cartId)).every((id) => id === orderId);
  for (const session of found) {
    const isRemainder = session.id === remainderSessionId;
    await tryTo(`voiding the payment session ${session.id}`, async () => {
      if (!isRemainder) await deleteSession(container, session);
      else if (isVoidable(session) && (await isAlone())) await deleteSession(container, session, isAlone);
    });
  }
}

/**
 * Tells whether the remainder's session is deleted with the cards. A session that asks the shopper for more stays for
 * the next attempt. A captured one also stays: Medusa itself refunds it, and needs its session for that.
 */
function isVoidable({ payment, status }: SessionPayment): boolean {
  return payment === null ? status === "pending_authorization" : !payment.isCaptured;
}
