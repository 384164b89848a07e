import { keepOrder } from "../../../../../../recovery/pending-cancellations.js";
import { adminRoute, notOpen, readActor } from "../../../admin-route.js";

/** A person's decision that an unpaid order stays as it is. Who decided is written down. */
export const POST = adminRoute(async ({ sql, req }) => {
  const orderId = String(req.params.id);
  if (await keepOrder(sql, orderId, await readActor(req))) return { orderId };
  throw notOpen("This order needs no decision (any more).");
});
