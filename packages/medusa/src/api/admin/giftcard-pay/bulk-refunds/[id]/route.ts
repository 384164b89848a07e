import { MedusaError } from "@medusajs/framework/utils";
import { readBulkRefunds } from "../../../../../refunds/bulk-store.js";
import { adminRoute } from "../../admin-route.js";

/** How far a refund of many orders has come. */
export const GET = adminRoute(async ({ sql, req }) => {
  const [report] = await readBulkRefunds(sql, { id: String(req.params.id) });
  if (!report) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such refund.");
  return { bulkRefund: report };
});
