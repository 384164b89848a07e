import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import type { BigNumberInput } from "@medusajs/framework/types";
import { MathBN, Modules } from "@medusajs/framework/utils";
import { euro } from "../amount.js";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import type { Turn } from "../context/cart-leases.js";
import { contextOf } from "../context/context.js";
import { notRefunded, refusal, withReasons } from "../errors.js";
import { findOrder, hadCards, orderOfPayment, type PaymentOrder } from "../medusa-tables/carts.js";
import { readHeldInChange, readOpenChange } from "../medusa-tables/orders.js";
import { scanOnly } from "../medusa-tables/scan.js";
import { findUnknownRefunds } from "../medusa-tables/unrecorded-payments.js";
import { finishBegunRefunds } from "../recovery/unrecorded-payments.js";
import { UNDECIDED } from "../refunds/order-refund.js";
import { onEnd } from "./answer.js";

/*
 * Medusa's own routes that could interfere with a completion of a cart with gift cards, or with each other. They wait
 * until the cart is free, and hold its lease until they have answered.
 */

/**
 * Takes the order's lease for a cancel, and for what begins a change of it. Medusa notices an open change only after
 * it has moved the order's money. A completion could authorize a payment after a cancel has voided those that it
 * found.
 * @param prepare continues once the request has the lease. `cartId`: the order's cart; null if no card was ever on it
 */
export async function changeOrderInTurn(
  req: MedusaRequest,
  res: MedusaResponse,
  next: MedusaNextFunction,
  prepare: (cartId: string | null) => unknown = () => next(),
) {
  const { order_id } = (req.body ?? {}) as { order_id?: unknown };
  const id = req.params.id ?? order_id;
  // Medusa refuses everything else.
  if (typeof id !== "string") return next();
  const { leases, sql } = contextOf(req.scope);
  const order = await findOrder(sql, id);
  if (!order) return prepare(null);
  // Without cards, it is the order's own lease: the plugin and Medusa's cancel would otherwise refund the same money.
  return goOnWith(res, await leases.wait(order.cartId ?? id, PATIENCE_MS), () => prepare(order.cartId));
}

/**
 * Takes the order's lease to capture or refund a payment by hand. The plugin may be capturing or refunding it at the same
 * moment, and Medusa would record both in the order.
 * @param prepare continues once the request has the lease
 */
export async function changePaymentInTurn(
  req: MedusaRequest,
  res: MedusaResponse,
  next: MedusaNextFunction,
  prepare: (order: PaymentOrder) => unknown = () => next(),
) {
  const { leases, sql } = contextOf(req.scope);
  const found = await orderOfPayment(sql, String(req.params.id));
  // Medusa refuses everything else.
  if (!found) return next();
  return goOnWith(res, await leases.wait(found.cartId ?? found.orderId, PATIENCE_MS), () => prepare(found));
}

/**
 * Takes the order's lease for a cancel, and finishes the card refunds that were begun. Medusa would book them as a part of the
 * cancel, with another amount. Refuses the cancel if nobody knows whether a refund by another method was made: a person must
 * decide that first. Refuses it too while a change of the order is open: a partly canceled order would result.
 */
export const cancelInTurn = (req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) =>
  changeOrderInTurn(req, res, next, async (cartId) => {
    const { sql } = contextOf(req.scope);
    if (cartId !== null) {
      await finishBegunRefunds(req.scope, cartId);
      if ((await findUnknownRefunds(scanOnly(sql, cartId))).length > 0) throw notRefunded(UNDECIDED);
    }
    await refuseOpenChange(sql, String(req.params.id));
    next();
  });

/**
 * Takes the cart's lease to create a payment collection: two processes would create one each, and Medusa would read
 * another one than the plugin.
 */
export const makeCollectionInTurn = (req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) =>
  takeCartTurn(req, res, next, ((req.body ?? {}) as { cart_id?: unknown }).cart_id);

/**
 * Takes the cart's lease for Medusa's routes that change a cart. They delete its payment sessions. If another process
 * were completing the cart, they would cancel the remainder that its order has just been paid with.
 */
export const changeCartInTurn = (req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) =>
  takeCartTurn(req, res, next, req.params.id);

/** Takes the lease of a cart that had cards. It gives way to a completion, as Medusa's workflow waits for its lock on the cart. */
async function takeCartTurn(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction, cartId: unknown) {
  // Medusa refuses everything else.
  if (typeof cartId !== "string") return next();
  const { leases, sql } = contextOf(req.scope);
  if (!(await hadCards(sql, cartId))) return next();
  return goOnWith(res, await leases.wait(cartId, PATIENCE_MS, { givesWay: true }), next);
}

/** Continues with a turn, which ends once the request is answered. */
async function goOnWith(res: MedusaResponse, { release }: Turn, goOn: () => unknown) {
  // Something else, such as a timeout, has answered meanwhile: don't begin.
  if (res.writableEnded) return release();
  onEnd(res, release);
  await goOn();
}

/*
 * While a change of an order is open, Medusa refuses any other change. But it checks this only after it has moved the
 * order's money, so the payments would be canceled and the order not. The plugin refuses these calls before.
 */

/**
 * Refuses to confirm a change of an order with cards if Medusa would void what isn't captured. Medusa does so if the customer
 * still has to pay something after the change, and asks them to pay all of it again.
 */
export async function refuseVoid(req: MedusaRequest, _res: MedusaResponse, next: MedusaNextFunction) {
  const id = String(req.params.id);
  const held = id.includes("\0") ? null : await readHeldInChange(contextOf(req.scope).sql, id);
  if (!held) return next();
  const { summary } = await req.scope.resolve(Modules.ORDER).previewOrderChange(held.orderId);
  if (MathBN.lte((summary as { pending_difference: BigNumberInput }).pending_difference, 0)) return next();
  next(
    refusal(
      `${euro(held.cents)} of this order is authorized and isn't captured yet, and Medusa would void it with this change. ` +
        "Capture the order's payments first, then confirm the change. Nothing was changed.",
    ),
  );
}

export async function refuseOpenChange(sql: Sql, orderId: string): Promise<void> {
  const open = await readOpenChange(sql, orderId);
  if (open) throw withReasons(refusal, [open, { code: "nothingDone" }]);
}
