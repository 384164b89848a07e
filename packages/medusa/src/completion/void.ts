import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { deleteSession } from "../cart/sessions.js";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { ordersOfCart } from "../medusa-tables/carts.js";
import { readSessionPayments, type SessionPayment } from "../medusa-tables/payments.js";

/** What a completion did, as plain data: Medusa keeps it, and `voidCompletion` takes it back. */
export interface CompletionRecord {
  cartId: string;
  /** The order that it placed; null in `validate`, where there is none yet. */
  orderId: string | null;
  /** What it began to charge: each card's payment session, with its charges. */
  charges: { sessionId: string; references: string[] }[];
  /** The gift card sessions that go with it: its charges', and one whose charge could not be begun. */
  sessionIds: string[];
  /** The remainder's session: authorized by the completion, or by a webhook while it charged the cards. */
  remainderSessionId: string | null;
}

/**
 * Takes `completeWithGiftcards` back after it, or a later step of the completion, failed: first what is owed to the cards
 * is written down, then Medusa's payments follow. A part that fails holds back no other. Never throws.
 */
export async function voidCompletion(
  record: CompletionRecord | null | undefined,
  { container }: { container: MedusaContainer },
): Promise<void> {
  if (!record) return;
  const { engine, sql } = contextOf(container);
  const tryTo = async (what: string, action: () => Promise<unknown>) => {
    await action().catch((error: unknown) => {
      const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
      logger.error(`giftcard: ${what} of cart ${record.cartId} failed: ${nameOf(error)}`);
    });
  };
  for (const reference of record.charges.flatMap(({ references }) => references)) {
    await tryTo("the reversal", () => engine.void(reference, { orderIsGone: true }));
  }
  const { cartId, orderId, sessionIds, remainderSessionId } = record;
  const ids = remainderSessionId === null ? sessionIds : [...sessionIds, remainderSessionId];
  if (ids.length === 0) return;
  let found: SessionPayment[] = [];
  await tryTo("reading the payments", async () => {
    found = await readSessionPayments(sql, ids);
  });
  // Another order of the cart stands: this completion stood still so long that another one has taken its place.
  const isAlone = async () => (await ordersOfCart(sql, cartId)).every((id) => id === orderId);
  for (const one of found) {
    const isRemainder = one.id === remainderSessionId;
    await tryTo(`voiding the payment session ${one.id}`, async () => {
      if (!isRemainder) await deleteSession(container, one);
      else if (mustGo(one) && (await isAlone())) await deleteSession(container, one, isAlone);
    });
  }
}

/**
 * Whether the remainder's session goes with the cards. One that asks the shopper for more stays, for the next try. One
 * that is captured stays too: Medusa itself refunds it, and needs its session for that.
 */
function mustGo({ payment, status }: SessionPayment): boolean {
  return payment === null ? status === "pending_authorization" : !payment.isCaptured;
}
