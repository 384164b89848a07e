import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { toMedusaError } from "../errors.js";
import { cartOfOrder, readStanding } from "../medusa-tables/carts.js";
import { handleAnswer } from "./answer.js";

/*
 * Medusa's own routes that change what a completion of a cart with gift cards works on. They wait until the cart is free,
 * and have it alone until they have answered.
 */

/** What a completion authorizes after Medusa has voided the payments that it found would stay. */
export async function cancelInTurn(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  const cartId = await cartOfOrder(contextOf(req.scope).runSql, String(req.params.id));
  return cartId === null ? next() : takeTurn(req, res, next, cartId);
}

/** Two processes would make a payment collection each, and Medusa reads another one than the plugin then. */
export async function makeCollectionInTurn(
  req: MedusaRequest,
  res: MedusaResponse,
  next: MedusaNextFunction,
) {
  const { cart_id } = (req.body ?? {}) as { cart_id?: unknown };
  // Anything else is Medusa's to refuse.
  if (typeof cart_id !== "string" || cart_id.includes("\0")) return next();
  const { hadCards } = await readStanding(contextOf(req.scope).runSql, cart_id);
  return hadCards ? takeTurn(req, res, next, cart_id) : next();
}

async function takeTurn(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction, cartId: string) {
  try {
    handleAnswer(res, next, { onEnd: await contextOf(req.scope).leases.wait(cartId, PATIENCE_MS) });
  } catch (error) {
    return next(toMedusaError(error, req.scope.resolve(ContainerRegistrationKeys.LOGGER)));
  }
  next();
}
