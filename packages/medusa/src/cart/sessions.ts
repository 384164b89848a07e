import { CheckoutError } from "@giftcard-pay/checkout";
import type { Engine, PaymentPlan } from "@giftcard-pay/checkout/plugin";
import type { Charge } from "@giftcard-pay/checkout/store";
import type { CreatePaymentSessionDTO, MedusaContainer } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { fromCents } from "../amount.js";
import { contextOf, hasOrder, reverseUnordered } from "../context/context.js";
import { nameOf } from "../errors.js";
import * as bySql from "../medusa-tables/card-payments.js";
import type { SessionView } from "../medusa-tables/carts.js";
import type { SessionPayment } from "../medusa-tables/payments.js";
import { LAST_FOUR, MANUAL_PROVIDER_ID, OWNER, PLAN, PROVIDER_ID } from "../names.js";
import { copyOf, isHeldBy } from "../providers/giftcard/provider.js";
import type { CartPayment } from "./cart-payment.js";

const isGift = ({ provider_id }: SessionPayment) => provider_id === PROVIDER_ID;

/**
 * Deletes sessions at their providers and here. Sessions of other methods go first, since they refuse if they have
 * the money.
 * @throws {CheckoutError} payment_in_progress if one can't be deleted, whatever its provider fails with
 */
export async function deleteSessions(container: MedusaContainer, sessions: readonly SessionPayment[]): Promise<void> {
  for (const session of [...sessions.filter((s) => !isGift(s)), ...sessions.filter(isGift)]) {
    await deleteSession(container, session).catch((error: unknown) => {
      const logger = contextOf(container).logger;
      logger.warn(`giftcard: the payment session ${session.id} can't be deleted: ${nameOf(error)}`);
      throw new CheckoutError("payment_in_progress");
    });
  }
}

/** Methods that Medusa's payment module has for each of its models, but doesn't declare. */
interface SoftDeletes {
  softDeletePayments(ids: string[]): Promise<unknown>;
  softDeletePaymentSessions(ids: string[]): Promise<unknown>;
  restorePaymentSessions(ids: string[]): Promise<unknown>;
}

/**
 * Deletes a session, and then cancels its payment. In this order, so that nobody pays an order with a payment that is
 * being canceled. If the cancel fails, recovery finds the payment.
 * @param isFree whether no order has the session. Asked again once it is deleted; if an order has it, it is
 *   restored
 * @throws the provider's error; payment_in_progress if the payment is captured, or belongs to an order
 */
export async function deleteSession(
  container: MedusaContainer,
  session: SessionPayment,
  isFree: () => Promise<boolean> = async () => true,
): Promise<void> {
  const { id, status, payment } = session;
  const payments = container.resolve(Modules.PAYMENT);
  if (!payment) return status === null ? undefined : payments.deletePaymentSession(id);
  if (
    payment.isCaptured ||
    (isGift(session) && hasOrder(await contextOf(container).engine.journal.chargesOfPayment(id)))
  )
    throw new CheckoutError("payment_in_progress");
  if (status !== null && !(await withdrawSession(container, session, isFree))) return;
  // Canceling the payment reverses committed charges too, and a completion may have committed them since the check above.
  if (isGift(session) && hasOrder(await reverseUnordered(contextOf(container).engine, id))) {
    if (status !== null) await restoreSession(container, id);
    throw new CheckoutError("payment_in_progress");
  }
  if (!payment.isOver) await payments.cancelPayment(payment.id);
  // The journal has its charge. In the order's list of payments, somebody would refund the wrong one.
  if (isGift(session)) await (payments as unknown as SoftDeletes).softDeletePayments([payment.id]);
}

/**
 * Deletes a session only here, and checks again whether an order has it. A completion writes its order before it
 * reads the session, so one of the two notices the other.
 * @returns false if an order has it. The session then stays, or is restored
 */
export async function withdrawSession(
  container: MedusaContainer,
  { id }: SessionPayment,
  isFree: () => Promise<boolean>,
): Promise<boolean> {
  const payments = container.resolve(Modules.PAYMENT) as unknown as SoftDeletes;
  if (!(await isFree())) return false;
  await payments.softDeletePaymentSessions([id]);
  if (await isFree()) return true;
  await restoreSession(container, id);
  return false;
}

export async function restoreSession(container: MedusaContainer, sessionId: string): Promise<void> {
  const payments = container.resolve(Modules.PAYMENT) as unknown as SoftDeletes;
  await payments.restorePaymentSessions([sessionId]);
}

/**
 * Creates the session with which the plan's card at this position pays its part: in one statement, or through Medusa's payment
 * module if its tables aren't those of a tested release.
 * @returns the session's id
 */
export async function createGiftSession(
  container: MedusaContainer,
  { collectionId }: Pick<CartPayment, "collectionId">,
  plan: PaymentPlan,
  index: number,
): Promise<string> {
  const part = plan.parts[index];
  if (!part || collectionId === null) throw new TypeError(`The plan has no part ${index}, or the cart no collection.`);
  const { amountCents, lastFour } = part;
  const { sql, hasTestedTables } = contextOf(container);
  const metadata = planMetadata(plan);
  if (hasTestedTables) return bySql.createCardSession(sql, { collectionId, amountCents, lastFour, metadata });
  const created = await container.resolve(Modules.PAYMENT).createPaymentSession(collectionId, {
    ...{ provider_id: PROVIDER_ID, currency_code: "eur", amount: fromCents(amountCents), data: {}, metadata },
    context: { [LAST_FOUR]: lastFour } as never,
  });
  return created.id;
}

/**
 * Replaces all sessions by this one. The old ones are deleted first, so that there are never two to pay by.
 * @throws as `deleteSessions`: none is created
 * @throws the error of the session's method
 */
export async function replaceSessions(
  container: MedusaContainer,
  { collectionId, otherSessions, deadSessions, giftSessions }: CartPayment,
  plan: PaymentPlan,
  session: Pick<CreatePaymentSessionDTO, "provider_id" | "amount" | "data" | "context">,
): Promise<void> {
  await deleteSessions(container, [...otherSessions, ...deadSessions, ...giftSessions]);
  const created = { ...session, currency_code: "eur", metadata: planMetadata(plan) };
  await container.resolve(Modules.PAYMENT).createPaymentSession(collectionId ?? "", created);
}

/**
 * Replaces all sessions by one for 0.00. Pages that need a session use it to place an order which the cards pay
 * alone. It is Medusa's manual session, whatever method was chosen: pages place an order with it at once, and other
 * methods can't ask for 0.00. It is deleted when the order is placed.
 * @throws as `replaceSessions`
 */
export async function createEmptySession(
  container: MedusaContainer,
  payment: CartPayment,
  plan: PaymentPlan,
): Promise<void> {
  await noteShown(container, payment, plan);
  await replaceSessions(container, payment, plan, { provider_id: MANUAL_PROVIDER_ID, amount: 0, data: {} });
}

/**
 * Deletes sessions that were created for other cards than the plan's. The page creates a new one. @throws as
 * `deleteSessions`
 */
export async function dropStaleSessions(
  container: MedusaContainer,
  payment: CartPayment,
  plan: PaymentPlan,
): Promise<void> {
  await noteShown(container, payment, plan);
  const stale = payment.otherSessions.filter((session) => !isForRemainder(session, plan));
  await deleteSessions(container, [...stale, ...payment.deadSessions, ...payment.giftSessions]);
}

/**
 * Refuses a change of the cards once another method has a payment, which fits one amount only. @throws
 * {CheckoutError} payment_in_progress
 */
export function refusePaid(sessions: readonly SessionView[]): void {
  if (sessions.some((session) => session.payment)) throw new CheckoutError("payment_in_progress");
}

/**
 * Refuses to place an order whose payment for the remainder was canceled since the shopper confirmed it, as a bank does.
 * After an error, it may still be paid.
 * @throws {MedusaError} payment_authorization_error, as if the bank declined it now
 */
export function refuseEnded({ otherSessions, deadSessions }: CartPayment, plan: PaymentPlan): void {
  const hasEnded = (session: SessionView) =>
    session.status === "canceled" && !session.payment && !isGift(session) && isForRemainder(session, plan);
  if (otherSessions.length === 0 && deadSessions.some(hasEnded)) throw declined();
}

export function declined(): MedusaError {
  const type = MedusaError.Types.PAYMENT_AUTHORIZATION_ERROR;
  return new MedusaError(type, "Payment authorization failed", type);
}

/** Records on a cart that a page shows this plan, if the cards leave nothing to pay: such a cart needs no session. */
async function noteShown(container: MedusaContainer, { cart, shownPlan }: CartPayment, plan: PaymentPlan) {
  if (!isCovered(plan) || shownPlan === plan.shown) return;
  await container.resolve(Modules.CART).updateCarts(cart.id, { metadata: planMetadata(plan) });
}

export function planMetadata({ parts, shown }: PaymentPlan): Record<string, string> {
  return parts.length > 0 ? { [PLAN]: shown } : {};
}

/** Tells whether a session of another method is for what this plan's cards leave to pay. */
function isForRemainder({ amountCents, metadata }: SessionView, plan: PaymentPlan): boolean {
  return amountCents === plan.remainderCents && metadata?.[PLAN] === planMetadata(plan)[PLAN];
}

export const isCovered = (plan: PaymentPlan) => plan.parts.length > 0 && plan.remainderCents === 0;

/**
 * Tells whether a completion would charge exactly what was prepared: the same cards, and the same cents.
 * Medusa authorizes the first session that it finds, so there must be exactly one.
 * @returns the session of the remainder, or null if nothing remains
 * @throws {CheckoutError} payment_in_progress, applied_card_expired or amount_changed, by the cause
 * @throws as `refuseEnded`
 */
export function checkSessions(engine: Engine, payment: CartPayment, plan: PaymentPlan): SessionView | null {
  const { cart, giftSessions, otherSessions, deadSessions } = payment;
  refuseEnded(payment, plan);
  const all = [...giftSessions, ...otherSessions, ...deadSessions];
  // Medusa needs no session for a free cart.
  if (all.length === 0 && cart.totalCents === 0) return null;
  const [gift] = giftSessions;
  const [remainder] = otherSessions;
  const fits = isCovered(plan)
    ? gift?.amountCents === plan.parts[0]?.amountCents && gift?.metadata?.[PLAN] === plan.shown
    : remainder !== undefined && isForRemainder(remainder, plan);
  engine.checkShown(plan, all.length === 1 && fits ? plan.shown : null);
  return remainder ?? null;
}

/**
 * Creates the payment of a card that a completion has charged.
 * @param owner the completion, which holds the leases of the charges
 * @returns false if the session is deleted or has a payment, or one of its charges was reversed or taken over
 */
export async function authorizeCardSession(
  container: MedusaContainer,
  charged: readonly [Charge, ...Charge[]],
  owner: string,
): Promise<boolean> {
  const { engine, sql, logger, hasTestedTables } = contextOf(container);
  const sessionId = charged[0].externalId;
  if (hasTestedTables) return bySql.authorizeCardSession(sql, { sessionId, owner, data: copyOf(charged) });
  const payments = container.resolve(Modules.PAYMENT);
  try {
    // The module takes several steps. If a charge was reversed meanwhile, its payment is canceled.
    const payment = await payments.authorizePaymentSession(sessionId, { [OWNER]: owner });
    if (isHeldBy(await engine.journal.chargesOfPayment(sessionId), owner)) return true;
    if (payment) await payments.cancelPayment(payment.id);
  } catch (error) {
    logger.warn(`giftcard: the payment session ${sessionId} of a card can't be authorized: ${nameOf(error)}`);
  }
  return false;
}
