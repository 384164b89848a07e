import { randomUUID } from "node:crypto";
import { CheckoutError, type PaymentPlan } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import {
  createPaymentCollectionForCartWorkflow,
  deletePaymentSessionsWorkflow,
} from "@medusajs/medusa/core-flows";
import { fromCents, lessCents } from "../amount.js";
import type { Release } from "../modules/giftcard/cart-leases.js";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE, PROVIDER_ID } from "../names.js";
import {
  type CartPayment,
  ordersOfCart,
  readCartPayment,
  readStanding,
  type SessionView,
} from "./cart-payment.js";
import { type OrderPayment, readOrderPayment } from "./order-payment.js";

const LOCK_SECONDS = 30;

/**
 * Runs a change of the cart's sessions alone: it waits while a completion of the same cart runs, in whatever process, and
 * the other way round. The lease comes first everywhere: a shop may have Medusa's lock reach over all processes too.
 *
 * @throws {CheckoutError} payment_in_progress when that takes too long
 */
export async function withCartLock<T>(
  container: MedusaContainer,
  cartId: string,
  job: () => Promise<T>,
): Promise<T> {
  const release = await waitForCart(container, cartId);
  try {
    const locking = container.resolve(Modules.LOCKING);
    return await locking.execute([cartId], job, { timeout: LOCK_SECONDS });
  } finally {
    await release();
  }
}

function waitForCart(container: MedusaContainer, cartId: string): Promise<Release> {
  const { leases } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  return leases.wait(cartId, LOCK_SECONDS * 1000);
}

/** Deletes sessions at their providers and here. */
export async function deleteSessions(
  container: MedusaContainer,
  sessions: readonly SessionView[],
): Promise<void> {
  if (sessions.length === 0) return;
  await deletePaymentSessionsWorkflow(container).run({
    input: { ids: sessions.map((session) => session.id) },
  });
}

/**
 * Makes the session in which one card pays its part. The last part of a cart that the cards cover wholly takes the
 * fractions of a cent too, so that the sessions sum to Medusa's total.
 *
 * @param meanwhile begun with the session's id while Medusa still writes its own part of it, and waited for, whatever fails
 */
export async function createGiftSession(
  container: MedusaContainer,
  collectionId: string,
  plan: PaymentPlan,
  index: number,
  rawTotal: CartPayment["rawTotal"],
  meanwhile: (sessionId: string) => Promise<void> = async () => {},
): Promise<string> {
  const part = plan.parts[index];
  if (!part) throw new TypeError(`The plan has no part ${index}.`);
  const closesTotal = plan.remainderCents === 0 && index === plan.parts.length - 1;
  const amount = closesTotal
    ? lessCents(rawTotal, plan.coveredCents - part.amountCents)
    : fromCents(part.amountCents);
  const giftcard = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  let begun: Promise<void> | undefined;
  const onCreated = (sessionId: string) => {
    begun = meanwhile(sessionId);
    // What it fails with is thrown below; until then nobody waits for it.
    begun.catch(() => {});
  };
  const creating = giftcard.expectSession({ ...part, onCreated }, () =>
    container.resolve(Modules.PAYMENT).createPaymentSession(collectionId, {
      provider_id: PROVIDER_ID,
      currency_code: "eur",
      amount: amount as never,
      data: {},
    }),
  );
  try {
    return (await creating).id;
  } finally {
    await begun;
  }
}

/**
 * Makes the cart ready to be completed: no dead session, no gift card session but the one that Medusa needs to complete
 * a cart which the cards cover wholly. The cards are charged later, in the completion, which reads and checks everything
 * again: so a cart that looks ready isn't read twice.
 *
 * @returns what ends the completion's hold on the cart, once Medusa has answered; null where the cart isn't held
 */
export async function prepareCompletion(container: MedusaContainer, cartId: string): Promise<Release | null> {
  const { leases } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const standing = await readStanding(container, cartId);
  if (!standing.hadCards) return null;
  if (standing.isReady) {
    const hold = await leases.take(cartId);
    if (hold) return hold;
  }
  const before = await readCartPayment(container, cartId);
  if (before.isCompleted) {
    await refuseUnpaidOrder(container, cartId);
    return null;
  }
  const hasCards = before.isEuro && standing.hasCards;
  if (!hasCards && before.giftSessions.length === 0) return null;
  const release = await waitForCart(container, cartId);
  try {
    // A page that has nothing else to pay made no collection. Medusa takes the cart's lock for this itself.
    if (hasCards && !before.collectionId) {
      await createPaymentCollectionForCartWorkflow(container).run({ input: { cart_id: cartId } });
    }
    const isCompleted = await withCartLock(container, cartId, () => prepareSessions(container, cartId));
    if (isCompleted) await refuseUnpaidOrder(container, cartId);
    return release;
  } catch (error) {
    await release();
    throw error;
  }
}

/** @returns true when there is nothing to prepare any more: meanwhile another call has completed the cart */
async function prepareSessions(container: MedusaContainer, cartId: string): Promise<boolean> {
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const payment = await readCartPayment(container, cartId);
  if (payment.isCompleted) return true;
  const { collectionId, giftSessions, otherSessions, deadSessions } = payment;
  await deleteSessions(container, [...deadSessions, ...giftSessions]);
  if (!payment.isEuro) return false;
  await engine.settle(cartId);
  const plan = await engine.plan(payment.cart);
  if (plan.parts.length === 0 || plan.remainderCents > 0) return false;
  refusePaid(otherSessions);
  await deleteSessions(container, otherSessions);
  if (collectionId) await createGiftSession(container, collectionId, plan, 0, payment.rawTotal);
  return false;
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
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const attempts = await engine.journal.attemptsOfCart(cartId);
  if (attempts.some((attempt) => attempt.orderId === orderId)) return;
  await refuseUnpaidOrder(container, cartId);
  const isThere = (await ordersOfCart(container, cartId)).includes(orderId);
  if (!isThere) throw new CheckoutError("payment_in_progress");
}

/**
 * Medusa answers for a completed cart with its order, whatever became of that. An order whose payment is under way, or
 * was never made, isn't one that a page may thank for.
 */
async function refuseUnpaidOrder(container: MedusaContainer, cartId: string): Promise<void> {
  if (!(await unpaidOrderOf(container, cartId))) return;
  // The first click of two may still be at work, and this one waits for its order.
  const order = await withCartLock(container, cartId, () => unpaidOrderOf(container, cartId));
  if (!order) return;
  if (!order.isCanceled) throw new CheckoutError("payment_in_progress");
  throw new MedusaError(
    MedusaError.Types.NOT_ALLOWED,
    "The payment was interrupted, so the order was canceled. Nothing was taken; start with a new cart.",
    "cart_completed",
  );
}

/** The order of a cart with gift cards, if none of its payments was ever made; or null. */
async function unpaidOrderOf(container: MedusaContainer, cartId: string): Promise<OrderPayment | null> {
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const attempts = await engine.journal.attemptsOfCart(cartId);
  const isConcerned = attempts.length > 0 || (await engine.journal.tenders(cartId)).length > 0;
  if (!isConcerned || attempts.some(({ orderId }) => orderId !== null)) return null;
  const [orderId] = await ordersOfCart(container, cartId);
  const order = orderId ? await readOrderPayment(container, orderId) : null;
  return order && order.paidCents + order.pendingCents < order.totalCents ? order : null;
}

/** After a change of the applied cards: deletes sessions that were made for another remainder; the page makes a new one. */
export function dropStaleSessions(container: MedusaContainer, cartId: string): Promise<void> {
  return withCartLock(container, cartId, async () => {
    const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
    const payment = await readCartPayment(container, cartId);
    if (payment.isCompleted) return;
    const { remainderCents } = await engine.plan(payment.cart);
    const stale = payment.otherSessions.filter((session) => session.amountCents !== remainderCents);
    await deleteSessions(container, [...payment.deadSessions, ...payment.giftSessions, ...stale]);
  });
}

/** A payment that another method has made already fits one amount only. @throws {CheckoutError} payment_in_progress */
export function refusePaid(sessions: readonly SessionView[]): void {
  if (sessions.some((session) => session.payment)) throw new CheckoutError("payment_in_progress");
}

export const newOwner = (): string => `completion_${randomUUID()}`;
