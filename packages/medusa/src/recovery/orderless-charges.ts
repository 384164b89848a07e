import type { MedusaContainer } from "@medusajs/framework/types";
import { withCartLock } from "../cart/cart-turn.js";
import { voidCompletion } from "../completion/void.js";
import { contextOf } from "../context/context.js";
import type { OrderlessCharge } from "../medusa-tables/charged-orders.js";

/**
 * Voids the charge as its completion should have, and the others of its payment: the card gets its money and is the
 * cart's again, then its payment and its session go. Done twice it is done once.
 *
 * @throws where the journal can't be written, or another job has the cart for too long
 */
export async function voidOrderless(
  container: MedusaContainer,
  { cartId, sessionId }: OrderlessCharge,
): Promise<void> {
  const { engine } = contextOf(container);
  await withCartLock(container, cartId, async () => {
    const charges = await engine.journal.chargesOfPayment(sessionId);
    const references = charges.map(({ reference }) => reference);
    // Before its payment goes: a failure of one of them stops here, and is tried again.
    for (const reference of references) await engine.void(reference, { orderIsGone: true });
    const record = { cartId, orderId: null, charges: [], sessionIds: [sessionId], remainderSessionId: null };
    await voidCompletion(record, { container });
  });
}
