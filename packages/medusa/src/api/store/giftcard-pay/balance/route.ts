import type { CardEntry } from "@giftcard-pay/checkout";
import { cartlessRoute, readBody } from "../shop-route.js";

/** What a card holds, for a page that only tells it. Takes nothing. */
export const POST = cartlessRoute(async ({ engine, req, address }) =>
  engine.balance((await readBody(req)) as unknown as CardEntry, { address }),
);
