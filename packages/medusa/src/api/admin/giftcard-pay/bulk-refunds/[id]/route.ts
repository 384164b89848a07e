import { readBulkRefunds } from "../../../../../refunds/bulk-store.js";
import { adminRoute, notFound } from "../../admin-route.js";

/** Reads the progress of a bulk refund. */
export const GET = adminRoute(async ({ sql, req }) => {
  const [bulkRefund] = await readBulkRefunds(sql, { id: String(req.params.id) });
  if (!bulkRefund) throw notFound("refund");
  return { bulkRefund };
});
