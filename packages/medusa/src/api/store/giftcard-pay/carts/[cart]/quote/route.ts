import { type CardEntry, readCardBody } from "@giftcard-pay/checkout";
import { shopRoute } from "../../../shop-route.js";

/** A card's balance, and what this order would use of it. Takes nothing. */
export const POST = shopRoute(async ({ engine, cart, req }) => {
  // The engine checks what stands in it.
  const entry = (await readCardBody(req)) as unknown as CardEntry;
  return engine.quote(cart, entry);
});
