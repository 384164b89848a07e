import { exemptOrder } from "../../../../../../recovery/pending-cancellations.js";
import { adminRoute, notOpen, readActor } from "../../../admin-route.js";

/** Exempts an unpaid order from being canceled, and records who decided. */
export const POST = adminRoute(async ({ sql, req }) => {
  const orderId = String(req.params.id);
  if (await exemptOrder(sql, orderId, await readActor(req))) return { orderId };
  throw notOpen("noDecision");
});
