import type { SubscriberArgs, SubscriberConfig } from "@medusajs/framework";
import { contextOf } from "../context/context.js";
import { refreshEvents } from "../events/refresh.js";
import { productsOfVariants } from "../medusa-tables/show-products.js";

/** Works out a product's show anew at once when it changes; each minute's job does so for those of which nobody told. */
export default async function refreshChangedEvents({
  event,
  container,
}: SubscriberArgs<{ id: string }>): Promise<void> {
  const { sql, settings } = contextOf(container);
  if (!settings.events) return;
  const { id } = event.data;
  const isVariant = event.name.startsWith("product-variant.");
  await refreshEvents(container, isVariant ? await productsOfVariants(sql, [id]) : [id]);
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
