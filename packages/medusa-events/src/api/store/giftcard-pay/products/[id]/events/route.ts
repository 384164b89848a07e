import { feedItemOf, jsonLdText } from "@giftcard-pay/events";
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { contextOf, storable } from "../../../../../../context.js";
import { readPublicEvents } from "../../../../../../events/event-list.js";
import { findPublishedProduct } from "../../../../../../shows/show-products.js";

/**
 * Returns the events of a product, by its id or handle, for its page in the storefront: as items of the feed, and each as
 * the text of a `<script type="application/ld+json">`.
 */
export async function GET(req: MedusaRequest, res: MedusaResponse): Promise<void> {
  const { sql } = contextOf(req.scope);
  const { data: name } = storable.safeParse(req.params.id);
  const productId = name === undefined ? null : await findPublishedProduct(sql, name);
  const events = productId ? await readPublicEvents(sql, productId) : [];
  res.status(200).json({ events: events.map(feedItemOf), jsonLd: events.map(jsonLdText) });
}
