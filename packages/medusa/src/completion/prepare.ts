import { CheckoutError } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { createWorkflow, WorkflowResponse } from "@medusajs/framework/workflows-sdk";
import { createPaymentCollectionForCartWorkflow } from "@medusajs/medusa/core-flows";
import { closeCart, readCartPayment } from "../cart/cart-payment.js";
import { beginTurn, withCartLock } from "../cart/cart-turn.js";
import { checkSessions, isCovered } from "../cart/session-plan.js";
import { createGiftSession, deleteSessions, refusePaid } from "../cart/sessions.js";
import type { Release } from "../context/cart-leases.js";
import { contextOf } from "../context/context.js";
import { ordersOfCart, readStanding } from "../medusa-tables/carts.js";
import { type OrderPayment, readOrderPayment } from "../medusa-tables/order-payment.js";
import { settleCart, wasPaid } from "./paid-orders.js";

/** Medusa's own workflow as a part of this one: so it leaves the cart's lock alone, which the caller has. */
const createCollectionWorkflow = createWorkflow(
  "giftcard-create-payment-collection",
  (input: { cart_id: string }) =>
    new WorkflowResponse(createPaymentCollectionForCartWorkflow.runAsStep({ input })),
);

/**
 * Takes the turn at a cart for its completion, and makes it ready: no dead session, no gift card session but the one
 * that Medusa needs to complete a cart which the cards cover wholly. The cards are charged later, in the completion,
 * which reads and checks everything again: so a cart that looks ready isn't read twice.
 *
 * @returns what ends the completion's turn, once Medusa has answered; null where no card was ever on the cart
 * @throws {CheckoutError} amount_changed where there is no session that fits the cards
 */
export async function prepareCompletion(container: MedusaContainer, cartId: string): Promise<Release | null> {
  const { leases, sql } = contextOf(container);
  // While another job has its turn, what is read now may be wrong when it ends.
  const isFree = !leases.isHeld(cartId);
  const { hadCards, isReady } = await readStanding(sql, cartId);
  if (!hadCards) return null;
  const free = isFree && isReady ? await leases.take(cartId) : null;
  if (free) return free;
  const { turn } = await beginTurn(container, cartId, () => prepareSessions(container, cartId));
  await turn.giveWay();
  return turn.release;
}

async function prepareSessions(container: MedusaContainer, cartId: string): Promise<void> {
  const giftcard = contextOf(container);
  const { engine } = giftcard;
  const payment = await readCartPayment(container, cartId);
  if (payment.isCompleted) {
    refuseUnpaid(await unpaidOrderOf(container, cartId));
    // Medusa answers with the order. A page may not change what was ordered.
    if (payment.isReopened) await closeCart(container, cartId);
    return;
  }
  const { giftSessions, otherSessions, deadSessions } = payment;
  const ours = [...deadSessions, ...giftSessions];
  if (!payment.isEuro) return deleteSessions(container, ours);
  await settleCart(giftcard, cartId);
  const plan = await engine.plan(payment.cart);
  if (!isCovered(plan)) {
    await deleteSessions(container, ours);
    checkSessions(engine, { ...payment, giftSessions: [], deadSessions: [] }, plan);
    return;
  }
  refusePaid(otherSessions);
  await deleteSessions(container, [...otherSessions, ...ours]);
  // A page that has nothing else to pay made no collection.
  const collectionId = payment.collectionId ?? (await createCollection(container, cartId));
  await createGiftSession(container, { ...payment, collectionId }, plan, 0);
}

async function createCollection(container: MedusaContainer, cartId: string): Promise<string> {
  const { result } = await createCollectionWorkflow(container).run({ input: { cart_id: cartId } });
  return result.id;
}

/**
 * Says by our code why Medusa refused to complete a cart, where it didn't come as far as our hook: the cart was changed
 * after it was made ready, and its sessions don't fit any more; or a webhook has placed its order at the same moment, and
 * Medusa has opened the cart again. Called while the completion has its turn.
 *
 * @param race what Medusa's answer says: it didn't find something, as the cart was changed while it was completed, and its
 *   session deleted; or another completion has placed an order
 * @returns payment_in_progress, applied_card_expired or amount_changed; null where Medusa's own words say it
 */
export async function explainRefusal(
  container: MedusaContainer,
  cartId: string,
  race: "changed" | "ordered" | null,
): Promise<CheckoutError | null> {
  const { engine, leases, sql } = contextOf(container);
  try {
    const isOrdered = race === "ordered" || (await ordersOfCart(sql, cartId)).length > 0;
    // It came as far as our hook. So may a webhook's completion have, which has placed the order then.
    if (leases.wasJoined(cartId) && race === null && !isOrdered) return null;
    const payment = await readCartPayment(container, cartId);
    if (payment.isReopened) await closeCart(container, cartId);
    // Asked again, Medusa answers with the order. A closed cart without one it refuses in its own words.
    if (isOrdered) return new CheckoutError("payment_in_progress");
    if (payment.isCompleted || !payment.isEuro) return null;
    checkSessions(engine, payment, await engine.plan(payment.cart));
    return null;
  } catch (error) {
    return error instanceof CheckoutError ? error : null;
  }
}

/**
 * Before Medusa's answer for an order goes out: a webhook may be completing the cart in another process, and Medusa
 * answers with the order that it has only just begun.
 *
 * @throws {CheckoutError} payment_in_progress when the order isn't there any more, or isn't paid yet: ask again
 */
export async function confirmOrder(
  container: MedusaContainer,
  cartId: string,
  orderId: string,
): Promise<void> {
  const { engine } = contextOf(container);
  const charges = await engine.journal.chargesOfCart(cartId);
  if (charges.some((charge) => charge.orderId === orderId)) return;
  if (await unpaidOrderOf(container, cartId)) {
    // A webhook's completion may still be at work.
    refuseUnpaid(await withCartLock(container, cartId, () => unpaidOrderOf(container, cartId)));
  }
  const isThere = (await ordersOfCart(contextOf(container).sql, cartId)).includes(orderId);
  if (!isThere) throw new CheckoutError("payment_in_progress");
}

/**
 * Medusa answers for a completed cart with its order, whatever became of that. An order whose payment is under way, or
 * was never made, isn't one that a page may thank for.
 */
function refuseUnpaid(order: OrderPayment | null): void {
  if (!order) return;
  if (!order.isCanceled) throw new CheckoutError("payment_in_progress");
  throw new MedusaError(
    MedusaError.Types.NOT_ALLOWED,
    "The payment was interrupted, so the order was canceled, and what had been taken for it goes back. Start with a new cart.",
    "cart_completed",
  );
}

/** The order of a cart with gift cards, if none of its payments was ever made; or null. */
async function unpaidOrderOf(container: MedusaContainer, cartId: string): Promise<OrderPayment | null> {
  const { engine, sql } = contextOf(container);
  const charges = await engine.journal.chargesOfCart(cartId);
  const isConcerned = charges.length > 0 || (await engine.journal.tenders(cartId)).length > 0;
  if (!isConcerned || charges.some(({ orderId }) => orderId !== null)) return null;
  const [orderId] = await ordersOfCart(sql, cartId);
  const order = orderId ? await readOrderPayment(sql, orderId) : null;
  return order && !wasPaid(order, true) ? order : null;
}
