import { chargedStates } from "@giftcard-pay/checkout/store";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, MedusaError, Modules } from "@medusajs/framework/utils";
import { cancelOrderWorkflow } from "@medusajs/medusa/core-flows";
import { withCartLock } from "../cart/cart-turn.js";
import { wasPaid } from "../completion/paid-orders.js";
import { contextOf } from "../context/context.js";
import { refusal, withReasons } from "../errors.js";
import { type OrderPayment, readOrderPayment } from "../medusa-tables/order-payment.js";
import { notePaid } from "../medusa-tables/orders.js";
import { readOrderLinks, type UnpaidOrder } from "../medusa-tables/unpaid-orders.js";
import type { Reason } from "../sentences.js";
import { readExemptJobs, sentenceOf } from "./failing-jobs.js";
import { forgetPendingCancellation, noteCanceled, notePendingCancellation } from "./pending-cancellations.js";
import { releaseGiftcardPayment, releasePayment } from "./release-payment.js";

/** How an unpaid order is canceled. */
export interface CancelOptions {
  /** Called in place of canceling an order that is unpaid, and needs no person. */
  readonly onUnpaid?: () => unknown;
  /** Whether more orders look unpaid than a run may cancel: something else is probably wrong, and a person decides. */
  readonly isStopped?: boolean;
  /** Whether a person asks for this one. */
  readonly isAsked?: boolean;
}

/** Explains why recovery doesn't cancel an unpaid order; empty if nothing prevents it. */
function whyNotCanceled({ cartId, touches, totalCents }: OrderPayment): readonly Reason[] {
  if (cartId === null) return [{ code: "unlinked" }];
  if (totalCents === null) return [{ code: "noTotal" }];
  return touches.map((code) => ({ code }));
}

/**
 * Cancels an order that nobody paid, so that nobody ships it, and releases whatever is held for it. First it makes
 * sure that no card of the cart can be charged any more; then it judges the order by its total when it was placed. An
 * order that was ever paid only loses the cards that it didn't need. An order that somebody has worked on, that Medusa
 * refuses to cancel, or that has lost its link to its cart, waits for a person, with its payments as they are.
 * @returns true if it canceled the order
 * @throws {MedusaError} with the reasons if a person has to decide
 * @throws the error of the other method or Medusa. Call it again to continue
 */
export async function cancelIfUnpaid(
  container: MedusaContainer,
  found: UnpaidOrder,
  options: CancelOptions = {},
): Promise<boolean | "postponed"> {
  const { sql } = contextOf(container);
  const cartId = (await readOrderLinks(sql, found.orderId))?.cartId ?? found.cartId;
  return withCartLock(container, cartId, async () => {
    if ((await readExemptJobs(sql, "cancel_order")).has(found.orderId)) return false;
    const order = { ...found, cartId, reason: await notePendingCancellation(sql, { ...found, cartId }) };
    const linkedTo = await restoreLinks(container, order.orderId);
    // If the link changed meanwhile, this run has the wrong lock. The next run judges the order by its present cart.
    if (linkedTo !== null && linkedTo !== cartId) return false;
    // A completion that stalled before it charged a card can't begin once the card is off the cart.
    if (linkedTo !== null && !(await dropCards(container, cartId))) return false;
    const payment = await readOrderPayment(sql, order.orderId);
    if (!payment || payment.paidAt !== null) {
      await forgetPendingCancellation(sql, order.orderId);
      return false;
    }
    if (payment.isCanceled) {
      if (linkedTo !== null) await releaseHeld(container, order, payment, options.isAsked);
      await noteCanceled(sql, order.orderId);
      return false;
    }
    if (wasPaid(payment, order.reason === "unpaid")) {
      if (wasPaid(payment, false)) await notePaid(sql, payment);
      await forgetPendingCancellation(sql, order.orderId);
      return false;
    }
    return cancelUnpaid(container, order, payment, options);
  });
}

/**
 * Creates the links that a crash kept Medusa from creating, so that the order is judged and canceled with every payment
 * of its cart, and the cart can't be ordered again.
 * @returns the order's cart, or null if no link leads to it
 */
async function restoreLinks(container: MedusaContainer, orderId: string): Promise<string | null> {
  const links = await readOrderLinks(contextOf(container).sql, orderId);
  if (!links) return null;
  const { cartId, isPlaced, looseCollectionId } = links;
  const order = { [Modules.ORDER]: { order_id: orderId } };
  const missing: Record<string, object>[] = [];
  if (!isPlaced) missing.push({ ...order, [Modules.CART]: { cart_id: cartId } });
  if (looseCollectionId) missing.push({ ...order, [Modules.PAYMENT]: { payment_collection_id: looseCollectionId } });
  if (missing.length > 0) await container.resolve(ContainerRegistrationKeys.LINK).create(missing);
  return cartId;
}

/** Removes the cart's applied cards. @returns false if one of them is just being charged */
async function dropCards(container: MedusaContainer, cartId: string): Promise<boolean> {
  const { journal } = contextOf(container).engine;
  for (const { id, state } of await journal.tenders(cartId)) {
    if (state === "applied" && (await journal.removeTender(cartId, id)) === "charging") return false;
  }
  return true;
}

async function cancelUnpaid(
  container: MedusaContainer,
  order: UnpaidOrder,
  payment: OrderPayment,
  { onUnpaid, isStopped, isAsked }: CancelOptions,
): Promise<boolean | "postponed"> {
  const { sql, announcer } = contextOf(container);
  const { orderId, cartId, reason } = order;
  const why = whyNotCanceled(payment);
  if (why.length > 0) throw withReasons(refusal, why);
  if (onUnpaid) {
    onUnpaid();
    return "postponed";
  }
  if (isStopped) throw withReasons(refusal, [{ code: "cancelsStopped" }]);
  try {
    // Medusa first checks whether the order can be canceled, then voids or refunds the payments.
    await cancelOrderWorkflow(container).run({ input: { order_id: orderId } });
  } catch (error) {
    if ((error as { type?: string }).type === MedusaError.Types.NOT_ALLOWED)
      throw withReasons(refusal, [{ code: "medusaRefused", values: { fault: sentenceOf(error) } }]);
    await reverseCards(container, cartId);
    throw error;
  }
  contextOf(container).logger.warn(`giftcard order=${orderId} cart=${cartId} canceled: it was not paid (${reason})`);
  announcer.orderCanceled(order);
  const left = await readOrderPayment(sql, orderId);
  if (left) await releaseHeld(container, order, left, isAsked);
  await noteCanceled(sql, orderId);
  return true;
}

/**
 * Releases what a canceled order still holds: first the cards, then payments by other methods, then sessions that
 * could still be paid. A failure doesn't stop the others.
 * @throws the first failure, once everything was tried
 */
async function releaseHeld(
  container: MedusaContainer,
  { cartId }: UnpaidOrder,
  { heldPayments, openSessionIds }: OrderPayment,
  isAsked = false,
): Promise<void> {
  const payments = container.resolve(Modules.PAYMENT);
  const release = ({ id: paymentId, isGiftcard, capturedLeft }: (typeof heldPayments)[number]) =>
    isGiftcard
      ? releaseGiftcardPayment(container, { paymentId, capturedLeft })
      : releasePayment(container, { paymentId, cartId, capturedLeft }, isAsked);
  const held = heldPayments.toSorted((a, b) => Number(b.isGiftcard) - Number(a.isGiftcard));
  const steps = [
    () => reverseCards(container, cartId),
    () => tryAll(held, release),
    () => tryAll(openSessionIds, (id) => payments.deletePaymentSession(id)),
  ];
  await tryAll(steps, (step) => step());
}

/** Reverses every charge of the cart. Each reversal is recorded before it is tried. */
async function reverseCards(container: MedusaContainer, cartId: string): Promise<void> {
  const { engine } = contextOf(container);
  const charges = await engine.journal.chargesOfCart(cartId);
  const charged = charges.filter(({ state }) => chargedStates.includes(state));
  await tryAll(charged, ({ reference }) => engine.reverse(reference, "canceled"));
}

async function tryAll<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const one of all) await act(one).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
