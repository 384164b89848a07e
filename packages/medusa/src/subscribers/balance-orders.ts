import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import { withOrder } from "../refunds/balanced-books.js";
import { readBooks } from "../refunds/order-books.js";

/**
 * Balances an order's books as soon as units come back or are taken off, so that its page doesn't show as outstanding what
 * was refunded before. If this is missed, the order's next refund does it. Orders without a gift card, of which the plugin
 * has refunded nothing, are left as Medusa shows them.
 */
export default async function balanceOrders({
  event,
  container,
}: SubscriberArgs<{ order_id: string }>): Promise<void> {
  const orderId = event.data.order_id;
  const { charges, refunds } = await readBooks(container, orderId);
  if (charges.length === 0 && refunds.every(({ units }) => !units)) return;
  await withOrder(container, orderId, async () => {});
}

export const config: SubscriberConfig = {
  event: ["order-edit.confirmed", "order.return_received", "order.claim_created", "order.exchange_created"],
  context: { subscriberId: "giftcard-balance-orders" },
};
