import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import { contextOf } from "../context.js";
import { refreshEvents } from "../shows/refresh.js";
import { productOfVariant } from "../shows/show-products.js";

/** Recomputes a product's events when the product changes. If a message is lost, the job of each minute recomputes them. */
export default async function refreshChangedEvents({
  event: message,
  container,
}: SubscriberArgs<{ id: string }>): Promise<void> {
  const context = contextOf(container);
  const { id } = message.data;
  const isVariant = message.name.startsWith("product-variant.");
  const productId = isVariant ? await productOfVariant(context.sql, id) : id;
  if (productId) await refreshEvents(context, [productId]);
}

export const config: SubscriberConfig = {
  event: [
    "product.updated",
    "product.deleted",
    "product-variant.created",
    "product-variant.updated",
    "product-variant.deleted",
  ],
  context: { subscriberId: "giftcard-refresh-events" },
};
