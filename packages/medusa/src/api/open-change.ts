import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import type { MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { refusal } from "../errors.js";
import { hasOpenChange } from "../medusa-tables/orders.js";

/*
 * While a change of an order is open, Medusa makes no other. But it checks that only after it has moved the order's
 * money: the payments are canceled, and the order doesn't know it. So these calls are refused before.
 */

/** Refuses to cancel an order while a change of it is open: an order is canceled whole, or not at all. */
export async function refuseCancel(req: MedusaRequest, _res: MedusaResponse, next: MedusaNextFunction) {
  const isOpen = await hasOpenChange(contextOf(req.scope).sql, String(req.params.id));
  next(isOpen ? openChange("cancel the order") : undefined);
}

/** Makes the error for an order with an open change. */
export function openChange(what: string): MedusaError {
  const message = `An edit, return, exchange, claim or transfer of the order is open: confirm or cancel it, then ${what}. Nothing was changed.`;
  return refusal(message);
}
