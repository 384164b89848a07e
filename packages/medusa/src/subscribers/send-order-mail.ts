import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import { Modules } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { cartOfOrder } from "../medusa-tables/carts.js";
import { writeOrderMail } from "../reports/order-mail.js";

/**
 * Sends the order confirmation, if the option `orderMail` is set. An order gets at most one, even if its event is
 * delivered twice: Medusa stores each notification under its idempotency key.
 */
export default async function sendOrderMail({ event, container }: SubscriberArgs<{ id: string }>): Promise<void> {
  const orderId = event.data.id;
  const { leases, logger, settings, sql } = contextOf(container);
  if (!settings.orderMail) return;
  const notifications = container.resolve(Modules.NOTIFICATION);
  const idempotency_key = `giftcard-order-mail:${orderId}`;
  const earlier = () => notifications.listNotifications({ idempotency_key } as object);
  // Medusa would send a failed notification again each time, as it doesn't record that the second attempt succeeded.
  if ((await earlier()).length > 0) return;
  // The shopper's response goes first: this reads the order as often as the response does.
  const cartId = await cartOfOrder(sql, orderId);
  if (cartId !== null) await leases.ended(cartId);
  try {
    const mail = await writeOrderMail(container, orderId, settings.orderMail);
    if (mail) await notifications.createNotifications({ ...mail, idempotency_key });
  } catch (error) {
    // If two deliveries race, the unique index on the key stops one of them.
    if ((await earlier()).some(({ status }) => status !== "failure")) return;
    logger.error(`giftcard: the order mail of ${orderId} was not sent: ${nameOf(error)}`);
  }
}

export const config: SubscriberConfig = {
  event: "order.placed",
  context: { subscriberId: "giftcard-send-order-mail" },
};
