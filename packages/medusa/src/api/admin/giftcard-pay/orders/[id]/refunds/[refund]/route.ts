import { explainRefund } from "../../../../../../../refunds/refund-purpose.js";
import { readOrderRefund } from "../../../../../../../refunds/rest-refund.js";
import { adminRoute, readActor } from "../../../../admin-route.js";

export const POST = adminRoute(async ({ req }) => {
  const { id: orderId, refund: refundId } = req.params as Record<"id" | "refund", string>;
  await explainRefund(req.scope, { orderId, refundId }, req.body, await readActor(req));
  return { refund: await readOrderRefund(req.scope, orderId) };
});
