import { feedItemOf, jsonLdText } from "@giftcard-pay/events";
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { contextOf } from "../../../../../../context/context.js";
import { readPublicEvents } from "../../../../../../events/public-events.js";
import { findPublishedProduct } from "../../../../../../medusa-tables/show-products.js";

/**
 * A product's dates for its page in the storefront, by the product's id or handle: as the feed has them, and each as the
 * text of a `<script type="application/ld+json">`. None where it is no show.
 */
export async function GET(req: MedusaRequest, res: MedusaResponse): Promise<void> {
  const { sql, settings } = contextOf(req.scope);
  const name = String(req.params.id);
  // A NUL, which a browser can send, is no text to a database.
  const isAsked = settings.events && !name.includes("\0");
  const productId = isAsked ? await findPublishedProduct(sql, name) : null;
  const events = productId ? await readPublicEvents(sql, productId) : [];
  res.status(200).json({ events: events.map(feedItemOf), jsonLd: events.map(jsonLdText) });
}
