import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";
import { endUnpaidOrder } from "../workflows/unpaid-orders.js";

/** Gives charged cards to the order where the cards were charged before the order existed (hook `validate`). */
export default async function commitGiftcards({
  event,
  container,
}: SubscriberArgs<{ id: string }>): Promise<void> {
  const orderId = event.data.id;
  const { engine, runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  // A card that was charged is "charging" until its order has it.
  const [left] = await runSql(
    `select cart_id from order_cart o where order_id = $1 and deleted_at is null
       and exists (select 1 from giftcard_tender t where t.cart_id = o.cart_id and t.state in ('applied', 'charging'))`,
    [orderId],
  );
  if (!left) return;
  const cartId = String(left.cart_id);
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
