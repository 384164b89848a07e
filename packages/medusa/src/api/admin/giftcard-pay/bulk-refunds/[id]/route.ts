import { readBulkRefunds } from "../../../../../refunds/bulk-store.js";
import { adminRoute, notFound } from "../../admin-route.js";

export const GET = adminRoute(async ({ sql, req }) => {
  const [bulkRefund] = await readBulkRefunds(sql, { id: String(req.params.id) });
  if (!bulkRefund) throw notFound("refund");
  return { bulkRefund };
});
