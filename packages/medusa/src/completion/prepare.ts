import { CheckoutError } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError } from "@medusajs/framework/utils";
import { createWorkflow, WorkflowResponse } from "@medusajs/framework/workflows-sdk";
import { createPaymentCollectionForCartWorkflow } from "@medusajs/medusa/core-flows";
import { closeCart, readCartPayment } from "../cart/cart-payment.js";
import { beginTurn, withCartLock } from "../cart/cart-turn.js";
import {
  checkSessions,
  createGiftSession,
  declined,
  deleteSessions,
  isCovered,
  refuseEnded,
  refusePaid,
} from "../cart/sessions.js";
import type { Release } from "../context/cart-leases.js";
import { contextOf } from "../context/context.js";
import { refusal } from "../errors.js";
import { hadCards, isReady, ordersOfCart } from "../medusa-tables/carts.js";
import { type OrderPayment, readOrderPayment } from "../medusa-tables/order-payment.js";
import { hasRows } from "../rows.js";
import { settleCart, wasPaid } from "./paid-orders.js";

/** How long a completion waits for its turn. It may have waited in the queue before. */
const PATIENCE_MS = 8_000;

/** Runs Medusa's own workflow as a step, so that it doesn't take the cart's lock, which the caller has. */
const createCollectionWorkflow = createWorkflow(
  "giftcard-create-payment-collection",
  (input: { cart_id: string }) => new WorkflowResponse(createPaymentCollectionForCartWorkflow.runAsStep({ input })),
);

/**
 * Takes the lease of a cart for its completion, and prepares the cart: it deletes dead sessions, and every gift card
 * session but the one that Medusa needs to complete a cart which the cards pay alone. The cards are charged later, in
 * the completion, which reads and checks everything again. So a cart that looks ready isn't read twice.
 * @param shown the plan that the page shows, if it tells
 * @returns a function that ends the completion's turn, to call once Medusa has responded; null if no card was ever on the cart
 * @throws {CheckoutError} amount_changed if no session fits the cards, or the page has shown other amounts
 */
export async function prepareCompletion(
  container: MedusaContainer,
  cartId: string,
  shown: string | null,
): Promise<Release | null> {
  const { leases, sql } = contextOf(container);
  if (!(await hadCards(sql, cartId))) return null;
  // If it can't be read, it is prepared, and that fails with the cause.
  const ready = isReady(sql, cartId, shown).catch(() => false);
  const free = await leases.take(cartId);
  if (free && (await ready)) return free;
  await free?.();
  const { turn } = await beginTurn(container, cartId, () => prepareSessions(container, cartId, shown), PATIENCE_MS);
  await turn.giveWay();
  return turn.release;
}

async function prepareSessions(container: MedusaContainer, cartId: string, shown: string | null): Promise<void> {
  const giftcard = contextOf(container);
  const { engine } = giftcard;
  const payment = await readCartPayment(container, cartId);
  if (payment.isCompleted) {
    refuseUnpaid(await unpaidOrderOf(container, cartId));
    // Medusa answers with the order. The cart must be closed, so that a page can't change what was ordered.
    if (payment.isReopened) await closeCart(container, cartId);
    return;
  }
  const { giftSessions, otherSessions, deadSessions } = payment;
  const ours = [...deadSessions, ...giftSessions];
  if (!payment.isEuro) return deleteSessions(container, ours);
  await settleCart(giftcard, cartId);
  const plan = await engine.plan(payment.cart);
  if (shown !== null) engine.checkShown(plan, shown);
  if (!isCovered(plan)) {
    refuseEnded(payment, plan);
    await deleteSessions(container, ours);
    checkSessions(engine, { ...payment, giftSessions: [], deadSessions: [] }, plan);
    return;
  }
  engine.checkShown(plan, shown ?? payment.shownPlan);
  refusePaid(otherSessions);
  await deleteSessions(container, [...otherSessions, ...ours]);
  // A page that has nothing else to pay creates no collection.
  const collectionId = payment.collectionId ?? (await createCollection(container, cartId));
  await createGiftSession(container, { ...payment, collectionId }, plan, 0);
}

async function createCollection(container: MedusaContainer, cartId: string): Promise<string> {
  const { result } = await createCollectionWorkflow(container).run({ input: { cart_id: cartId } });
  return result.id;
}

/** Medusa's message if two completions had its lock at once. Its lock in PostgreSQL admits two that arrive together. */
const ORDERED_TWICE = "Cannot create multiple links";

/** Medusa's message if the cart's payment has ended since it was prepared, as when a bank cancels it. */
const NO_SESSION = "Payment sessions are required";

/**
 * Explains with our code why Medusa refused to complete a cart, if it didn't reach our hook. Either the cart was
 * changed after it was prepared, and its sessions no longer fit. Or a webhook placed its order at the same moment,
 * and Medusa opened the cart again. Called while the completion has its turn.
 * @returns payment_in_progress, applied_card_expired, amount_changed or payment_authorization_error; null if Medusa's own
 *   message is right
 */
export async function explainRefusal(
  container: MedusaContainer,
  cartId: string,
  { status, message }: { readonly status: number; readonly message: string },
): Promise<Pick<MedusaError, "code" | "message"> | null> {
  const { engine, leases, sql } = contextOf(container);
  try {
    const isOrdered = message.startsWith(ORDERED_TWICE) || (await ordersOfCart(sql, cartId)).length > 0;
    const hasEnded = message.startsWith(NO_SESSION);
    // It reached our hook. But a webhook's completion may have, too, and then placed the order. 404 means that something was
    // missing, since the cart was changed and its session deleted meanwhile.
    if (leases.wasJoined(cartId) && !hasEnded && status !== 404 && !isOrdered) return null;
    const payment = await readCartPayment(container, cartId);
    if (payment.isReopened) await closeCart(container, cartId);
    // On the next request, Medusa answers with the order. It refuses a closed cart without an order in its own words.
    if (isOrdered) return new CheckoutError("payment_in_progress");
    if (payment.isCompleted || !payment.isEuro) return null;
    checkSessions(engine, payment, await engine.plan(payment.cart));
    return hasEnded ? declined() : null;
  } catch (error) {
    const isReason = error instanceof CheckoutError || MedusaError.isMedusaError(error as never);
    return isReason ? (error as CheckoutError | MedusaError) : null;
  }
}

/**
 * Checks an order before Medusa's response is sent. A webhook may be completing the cart in another process, and
 * Medusa answers with the order that it has only just begun.
 * @param endTurn ends the turn of the completion
 * @throws {CheckoutError} payment_in_progress if the order doesn't exist any more, or isn't paid yet: ask again
 */
export async function confirmOrder(
  container: MedusaContainer,
  cartId: string,
  orderId: string,
  endTurn: Release,
): Promise<void> {
  const { engine } = contextOf(container);
  const charges = await engine.journal.chargesOfCart(cartId);
  if (charges.some((charge) => charge.orderId === orderId)) return;
  if (await unpaidOrderOf(container, cartId)) {
    // A webhook's completion may still be running. It waits for this turn, and `withCartLock` for both.
    void endTurn();
    refuseUnpaid(await withCartLock(container, cartId, () => unpaidOrderOf(container, cartId)));
  }
  const isThere = (await ordersOfCart(contextOf(container).sql, cartId)).includes(orderId);
  if (!isThere) throw new CheckoutError("payment_in_progress");
}

/**
 * Refuses a completed cart whose order isn't paid. Medusa answers with the order whatever became of it, but a page
 * must not thank for an order whose payment is in progress, or was never made.
 */
function refuseUnpaid(order: OrderPayment | null): void {
  if (!order) return;
  if (!order.isCanceled) throw new CheckoutError("payment_in_progress");
  throw refusal(
    "The payment was interrupted, so the order was canceled. Everything that was taken for it is refunded. Start with a new cart.",
    "cart_completed",
  );
}

/** Reads the order of a cart with gift cards, if none of its payments was ever made; otherwise null. */
async function unpaidOrderOf(container: MedusaContainer, cartId: string): Promise<OrderPayment | null> {
  const { engine, sql } = contextOf(container);
  const charges = await engine.journal.chargesOfCart(cartId);
  if (charges.some(({ orderId }) => orderId !== null)) return null;
  const [orderId] = await ordersOfCart(sql, cartId);
  const isConcerned =
    charges.length > 0 || (await engine.journal.tenders(cartId)).length > 0 || (await isFoundUnpaid(sql, orderId));
  if (!isConcerned) return null;
  const order = orderId ? await readOrderPayment(sql, orderId) : null;
  return order && !wasPaid(order, true) ? order : null;
}

/** Tells whether recovery has found the order unpaid. It then removed the cart's cards. */
const isFoundUnpaid = (sql: Sql, orderId: string | undefined): Promise<boolean> =>
  hasRows(sql, "select 1 from giftcard_unpaid_order where order_id = $1", [orderId ?? null]);
