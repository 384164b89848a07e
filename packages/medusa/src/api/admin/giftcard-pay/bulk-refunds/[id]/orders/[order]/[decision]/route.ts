import { decideOrder } from "../../../../../../../../medusa-tables/bulk-refunds.js";
import { readBulkRefunds } from "../../../../../../../../refunds/bulk-store.js";
import { adminRoute, notFound, notOpen } from "../../../../../admin-route.js";

const states = { retry: "open", exempt: "exempted" } as const;

export const POST = adminRoute(async ({ sql, req }) => {
  const { id, order, decision } = req.params as { id: string; order: string; decision: keyof typeof states };
  if (!Object.hasOwn(states, decision)) throw notFound("decision");
  if (!(await decideOrder(sql, { bulkRefundId: id, orderId: order }, states[decision]))) throw notOpen("noDecision");
  return { bulkRefund: (await readBulkRefunds(sql, { id }))[0] };
});
