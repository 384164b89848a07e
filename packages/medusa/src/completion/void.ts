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
  /** The charges that it began, each with its payment session. */
  charges: { sessionId: string; reference: string }[];
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
  const { engine } = contextOf(container);
  const tryTo = async (what: string, action: () => Promise<unknown>) => {
    await action().catch((error: unknown) => {
      const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
      logger.error(`giftcard: ${what} of cart ${record.cartId} failed: ${nameOf(error)}`);
    });
  };
  for (const { reference } of record.charges) {
    await tryTo("the reversal", () => engine.void(reference, { orderIsGone: true }));
  }
  if (record.sessionIds.length === 0 && record.remainderSessionId === null) return;
  let doomed: SessionPayment[] = [];
  await tryTo("reading the payments", async () => {
    doomed = await readDoomed(container, record);
  });
  for (const one of doomed) {
    await tryTo(`voiding the payment session ${one.id}`, () => deleteSession(container, one));
  }
}

/**
 * The completion's sessions that go, with their payments. Where another order of the cart stands, the remainder is that
 * order's: this completion stood still so long that another one has taken its place.
 */
async function readDoomed(
  container: MedusaContainer,
  { cartId, orderId, sessionIds, remainderSessionId }: CompletionRecord,
): Promise<SessionPayment[]> {
  const { runSql } = contextOf(container);
  const isAlone = (await ordersOfCart(runSql, cartId)).every((id) => id === orderId);
  const remainder = isAlone ? remainderSessionId : null;
  const found = await readSessionPayments(
    runSql,
    remainder === null ? sessionIds : [...sessionIds, remainder],
  );
  return found.filter((one) => one.id !== remainder || mustGo(one));
}

/**
 * Whether the remainder's session goes with the cards. One that asks the shopper for more stays, for the next try. One
 * that is captured stays too: Medusa itself refunds it, and needs its session for that.
 */
function mustGo({ payment, status }: SessionPayment): boolean {
  return payment === null ? status === "pending_authorization" : !payment.isCaptured;
}
