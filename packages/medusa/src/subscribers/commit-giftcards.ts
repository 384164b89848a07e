import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";
import { endUnpaidOrder } from "../workflows/unpaid-orders.js";

/** Gives charged cards to the order where the cards were charged before the order existed (hook `validate`). */
export default async function commitGiftcards({
  event,
  container,
}: SubscriberArgs<{ id: string }>): Promise<void> {
  const orderId = event.data.id;
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({
    entity: "order_cart",
    fields: ["cart_id"],
    filters: { order_id: orderId },
  });
  const cartId = (data[0] as { cart_id?: string } | undefined)?.cart_id;
  if (!cartId) return;
  for (const { reference, state, leaseOwner } of await engine.journal.attemptsOfCart(cartId)) {
    if (state === "devalued" && leaseOwner) {
      await engine.commit(reference, leaseOwner, orderId).catch(() => null);
    }
  }
  // A completion that was frozen goes on and places its order, though recovery has undone its charges meanwhile.
  const isLeft = (await engine.journal.tenders(cartId)).length > 0;
  if (isLeft) await endUnpaidOrder(container, { orderId, cartId }, { mayBePending: true });
}

export const config: SubscriberConfig = { event: "order.placed" };
