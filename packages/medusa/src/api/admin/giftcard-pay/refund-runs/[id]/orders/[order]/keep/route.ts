import { decideOrder } from "../../../../../../../../journal-tables/refund-orders.js";
import { readRuns } from "../../../../../../../../refunds/run-store.js";
import { adminRoute, notOpen } from "../../../../../admin-route.js";

/** Leaves an order as it is, which waits for a person. */
export const POST = adminRoute(async ({ run, req }) => {
  const { id: runId, order: orderId } = req.params as Record<"id" | "order", string>;
  if (!(await decideOrder(run, { runId, orderId }, "kept")))
    throw notOpen("This order doesn't wait for a person.");
  return { run: (await readRuns(run, { id: runId }))[0] };
});
