import { paidOrderOfCart } from "../../../../workflows/cart-payment.js";
import { viewAttempt } from "../attempt-view.js";
import { adminRoute } from "../desk.js";

/** Runs recovery now, as the scheduled job does each minute. */
export const POST = adminRoute(async ({ giftcard, req }) => {
  const ended = await giftcard.engine.recover({
    orderOf: ({ cartId, externalId }) => paidOrderOfCart(req.scope, cartId, externalId),
  });
  return { attempts: ended.map((attempt) => viewAttempt(attempt)) };
});
