import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys, MedusaError } from "@medusajs/framework/utils";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import type { Release } from "../context/cart-leases.js";
import { contextOf } from "../context/context.js";
import { toMedusaError } from "../errors.js";
import { cartOfOrder, readStanding } from "../medusa-tables/carts.js";
import { scanOnly } from "../medusa-tables/scan.js";
import { findUnknownRefunds } from "../medusa-tables/unrecorded-payments.js";
import { finishRefunds } from "../recovery/unrecorded-payments.js";
import { UNDECIDED } from "../refunds/order-refund.js";
import { handleAnswer } from "./answer.js";

/*
 * Medusa's own routes that change what others work on: a completion of a cart with gift cards, or each other. They wait
 * until the cart is free, and have it alone until they have answered.
 */

/**
 * A cancel of an order, and what begins a change of it. Medusa finds an open change only after it has moved the order's
 * money; and what a completion authorizes after a cancel has voided the payments that it found would stay.
 */
export async function changeOrderInTurn(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  const { order_id } = (req.body ?? {}) as { order_id?: unknown };
  const id = req.params.id ?? order_id;
  // Anything else is Medusa's to refuse.
  if (typeof id !== "string" || id.includes("\0")) return next();
  const cartId = await cartOfOrder(contextOf(req.scope).sql, id);
  if (cartId === null) return next();
  (req as { [CART]?: string })[CART] = cartId;
  return takeTurn(req, res, next, () => contextOf(req.scope).leases.wait(cartId, PATIENCE_MS));
}

/** Whose turn a request has. */
const CART = Symbol("giftcard cart");

/**
 * Behind a cancel: card refunds that were begun and not finished come first. Medusa would book them as a part of
 * what it does now, with another amount. So it would with another method's, of which nobody knows whether it was made: a
 * person decides that first.
 */
export async function finishRefundsFirst(req: MedusaRequest, _res: MedusaResponse, next: MedusaNextFunction) {
  const cartId = (req as { [CART]?: string })[CART];
  if (cartId === undefined) return next();
  try {
    await finishRefunds(req.scope, cartId);
    const scan = scanOnly(contextOf(req.scope).sql, cartId);
    if ((await findUnknownRefunds(scan)).length > 0)
      throw new MedusaError(
        MedusaError.Types.NOT_ALLOWED,
        `${UNDECIDED} Nothing was refunded.`,
        "invalid_request",
      );
    next();
  } catch (error) {
    next(toMedusaError(error, req.scope.resolve(ContainerRegistrationKeys.LOGGER)));
  }
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
  const { hadCards } = await readStanding(contextOf(req.scope).sql, cart_id);
  if (!hadCards) return next();
  const { leases } = contextOf(req.scope);
  // Medusa's workflow waits for its lock on the cart.
  return takeTurn(req, res, next, async () => (await leases.waitGivingWay(cart_id, PATIENCE_MS)).release);
}

export async function takeTurn(
  req: MedusaRequest,
  res: MedusaResponse,
  next: MedusaNextFunction,
  take: () => Promise<Release>,
) {
  try {
    const release = await take();
    // Somebody else, such as a limit on time, has answered meanwhile: nothing is begun.
    if (res.writableEnded) return release();
    handleAnswer(res, next, { onEnd: release });
  } catch (error) {
    return next(toMedusaError(error, req.scope.resolve(ContainerRegistrationKeys.LOGGER)));
  }
  next();
}
