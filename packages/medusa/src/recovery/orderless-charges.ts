import type { MedusaContainer } from "@medusajs/framework/types";
import { withCartLock } from "../cart/cart-turn.js";
import { voidCompletion } from "../completion/void.js";
import { contextOf } from "../context/context.js";
import type { OrderlessCharge } from "../medusa-tables/charged-orders.js";

/**
 * Voids the charge as its completion should have: the card gets its money and is the cart's again, then its payment and
 * its session go. Done twice it is done once.
 *
 * @throws where the journal can't be written, or another job has the cart for too long
 */
export async function voidOrderless(
  container: MedusaContainer,
  { reference, cartId, sessionId }: OrderlessCharge,
): Promise<void> {
  const { engine } = contextOf(container);
  await withCartLock(container, cartId, async () => {
    await engine.void(reference, { orderIsGone: true });
    const record = { cartId, orderId: null, charges: [], sessionIds: [sessionId], remainderSessionId: null };
    await voidCompletion(record, { container });
  });
}
