import { type CardEntry, readCardBody } from "@giftcard-pay/checkout";
import { cartlessRoute } from "../shop-route.js";

/** What a card holds, for a page that only tells it. Takes nothing. */
export const POST = cartlessRoute(async ({ engine, req, address }) =>
  engine.balance((await readCardBody(req)) as unknown as CardEntry, { address }),
);
