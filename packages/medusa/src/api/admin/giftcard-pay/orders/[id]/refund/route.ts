import { readOwedRefund, refundOrder } from "../../../../../../refunds/order-refund.js";
import { adminRoute } from "../../../admin-route.js";

/** What the order owes its customer, and what of it goes where. */
export const GET = adminRoute(async ({ req }) => ({
  refund: await readOwedRefund(req.scope, String(req.params.id)),
}));

/** Gives it back, as the person has seen it: the body is one of the `splits`. */
export const POST = adminRoute(async ({ req }) => {
  const split = await refundOrder(req.scope, String(req.params.id), req.body, req.auth_context.actor_id);
  return { refunded: split };
});
