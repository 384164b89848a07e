import type { AuthenticatedMedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../../../../../context/context.js";
import { findOrder } from "../../../../../medusa-tables/carts.js";
import { readPaidBy } from "../../../../../reports/paid-by.js";

/**
 * Reads how an order was paid, for its shopper. Without a login, knowing the order's id is enough, as at Medusa's own
 * `GET /store/orders/:id`. Customers who are logged in can only read their own orders.
 */
export async function GET(req: AuthenticatedMedusaRequest, res: MedusaResponse): Promise<void> {
  res.setHeader("Cache-Control", "no-store");
  const orderId = String(req.params.id);
  const paidBy = (await maySee(req, orderId)) ? await readPaidBy(req.scope, orderId) : null;
  if (!paidBy) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such order.");
  res.status(200).json(paidBy);
}

/** Tells whether the caller may read the order. A database can't store a NUL, which a browser can send. */
async function maySee({ scope, auth_context }: AuthenticatedMedusaRequest, orderId: string) {
  if (orderId.includes("\0")) return false;
  const owner = await findOrder(contextOf(scope).sql, orderId);
  const customerId = auth_context?.actor_id;
  return owner !== null && (!customerId || owner.customerId === customerId);
}
