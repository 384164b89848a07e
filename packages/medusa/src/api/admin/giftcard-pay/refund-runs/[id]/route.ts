import { MedusaError } from "@medusajs/framework/utils";
import { readRuns } from "../../../../../refunds/run-store.js";
import { adminRoute } from "../../admin-route.js";

/** How far a refund of many orders has come. */
export const GET = adminRoute(async ({ run, req }) => {
  const [report] = await readRuns(run, { id: String(req.params.id) });
  if (!report) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such refund.");
  return { run: report };
});
