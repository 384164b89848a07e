import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { hasOpenChange } from "../medusa-tables/orders.js";

/*
 * While a change of an order is open, Medusa makes no other. It finds that after it has moved the order's money: the
 * payments are canceled, and the order knows nothing of it. So these calls are refused before.
 */

/** An order is canceled whole, or not at all. */
export async function refuseCancel(req: MedusaRequest, _res: MedusaResponse, next: MedusaNextFunction) {
  const isOpen = await hasOpenChange(contextOf(req.scope).sql, String(req.params.id));
  next(isOpen ? openChange("cancel the order") : undefined);
}

/** What a person is told. */
export function openChange(what: string): MedusaError {
  const message = `An edit, return, exchange, claim or transfer of the order is open: confirm or cancel it, then ${what}. Nothing was changed.`;
  return new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "invalid_request");
}
