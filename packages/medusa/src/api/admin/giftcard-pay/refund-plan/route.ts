import { planBulkRefund } from "../../../../refunds/bulk-plan.js";
import { readSold } from "../../../../refunds/sold-input.js";
import { adminRoute } from "../admin-route.js";

/** What a refund of everything that was sold of something would do: each order, and what can't be done, with why. */
export const POST = adminRoute(async ({ req }) => ({
  plan: await planBulkRefund(req.scope, readSold(req.body)),
}));
