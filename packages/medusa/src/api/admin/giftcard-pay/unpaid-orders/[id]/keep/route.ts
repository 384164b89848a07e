import { MedusaError } from "@medusajs/framework/utils";
import { keepOrder } from "../../../../../../workflows/unended-orders.js";
import { adminRoute, readActor } from "../../../desk.js";

/** A person's decision that an unpaid order stays as it is. Who decided is written down. */
export const POST = adminRoute(async ({ req }) => {
  const orderId = String(req.params.id);
  if (await keepOrder(req.scope, orderId, await readActor(req))) return { orderId };
  const message = "This order needs no decision (any more). Nothing was done.";
  throw new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "not_open");
});
