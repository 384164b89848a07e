import { recordPayout, refundOrder } from "../../../../../../refunds/order-refund.js";
import { readOrderRefund, refundRest } from "../../../../../../refunds/rest-refund.js";
import { adminRoute } from "../../../admin-route.js";

/** Reads what the order owes its customer, what is left of it, and how both can be refunded. */
export const GET = adminRoute(async ({ req }) => ({
  refund: await readOrderRefund(req.scope, String(req.params.id)),
}));

/**
 * Makes a refund as the person has seen it. The body is one of the `splits`, or the `rest` with `isRest: true`; with the
 * `captureCents` if there are any. `{ amountCents, isPaidOut: true }` records that the owed amount was paid out in another way.
 */
export const POST = adminRoute(async ({ req }) => {
  const { isRest, isPaidOut } = (req.body ?? {}) as { isRest?: unknown; isPaidOut?: unknown };
  const refund = isPaidOut === true ? recordPayout : isRest === true ? refundRest : refundOrder;
  return { refunded: await refund(req.scope, String(req.params.id), req.body ?? {}, req.auth_context.actor_id) };
});
