import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import { OrderWorkflowEvents, PaymentEvents } from "@medusajs/framework/utils";
import { captureSoon } from "../capture/capture-cards.js";
import { noteIfPaid } from "../completion/paid-orders.js";
import { contextOf } from "../context/context.js";
import { hasUncaptured } from "../journal-tables/charges.js";
import { orderOfPayment } from "../medusa-tables/carts.js";
import { PROVIDER_ID } from "../names.js";

/** A captured payment, or an order that is fulfilled. */
type Data = { readonly id: string } | { readonly order_id: string };

/**
 * Captures an order's cards once its remainder is captured, or once a part of it is fulfilled. Only now, an order whose
 * remainder was pending is known to be paid.
 */
export default async function captureGiftcards({ event, container }: SubscriberArgs<Data>): Promise<void> {
  const { sql, settings } = contextOf(container);
  if (settings.capture === "manual") return;
  const { data } = event;
  const payment = "order_id" in data ? null : await orderOfPayment(sql, data.id);
  // Every captured payment of the shop comes here, also those of cards. A card says nothing about the remainder.
  if (payment?.providerId === PROVIDER_ID) return;
  const orderId = "order_id" in data ? data.order_id : payment?.orderId;
  if (orderId === undefined || !(await hasUncaptured(sql, orderId))) return;
  await noteIfPaid(sql, [orderId]);
  await captureSoon(container, orderId);
}

export const config: SubscriberConfig = { event: [PaymentEvents.CAPTURED, OrderWorkflowEvents.FULFILLMENT_CREATED] };
