import { planBulkRefund, readWish } from "../../../../refunds/bulk-plan.js";
import { adminRoute } from "../admin-route.js";

/**
 * Plans a bulk refund: each order, and what can't be refunded, with the reason. With `capture: true` it includes orders that
 * aren't captured yet.
 */
export const POST = adminRoute(async ({ req }) => ({
  plan: await planBulkRefund(req.scope, readWish(req.body)),
}));
