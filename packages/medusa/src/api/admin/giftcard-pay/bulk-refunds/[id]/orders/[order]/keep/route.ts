import { decideOrder } from "../../../../../../../../journal-tables/bulk-refund-orders.js";
import { readBulkRefunds } from "../../../../../../../../refunds/bulk-store.js";
import { adminRoute, notOpen } from "../../../../../admin-route.js";

/** Leaves an order as it is, which waits for a person. */
export const POST = adminRoute(async ({ sql, req }) => {
  const { id: bulkRefundId, order: orderId } = req.params as Record<"id" | "order", string>;
  if (!(await decideOrder(sql, { bulkRefundId, orderId }, "kept")))
    throw notOpen("This order doesn't wait for a person.");
  return { bulkRefund: (await readBulkRefunds(sql, { id: bulkRefundId }))[0] };
});
