import { readOwedRefund, refundOrder } from "../../../../../../refunds/order-refund.js";
import { adminRoute } from "../../../admin-route.js";

/** Reads what the order owes its customer, and how it can be refunded. */
export const GET = adminRoute(async ({ req }) => ({
  refund: await readOwedRefund(req.scope, String(req.params.id)),
}));

/** Refunds it as the person has seen it: the body is one of the `splits`. */
export const POST = adminRoute(async ({ req }) => {
  const split = await refundOrder(req.scope, String(req.params.id), req.body, req.auth_context.actor_id);
  return { refunded: split };
});
