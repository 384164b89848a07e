import { planBulkRefund, readSold } from "../../../../refunds/bulk-plan.js";
import { adminRoute } from "../admin-route.js";

/** Plans a bulk refund: each order, and what can't be refunded, with the reason. */
export const POST = adminRoute(async ({ req }) => ({
  plan: await planBulkRefund(req.scope, readSold(req.body)),
}));
