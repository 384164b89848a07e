import { CheckoutError } from "@giftcard-pay/checkout";
import type { PaymentPlan } from "@giftcard-pay/checkout/plugin";
import { orderedStates } from "@giftcard-pay/checkout/store";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import { fromCents } from "../amount.js";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import type { SessionView } from "../medusa-tables/carts.js";
import type { SessionPayment } from "../medusa-tables/payments.js";
import { LAST_FOUR, MANUAL_PROVIDER_ID, PROVIDER_ID } from "../names.js";
import type { CartPayment } from "./cart-payment.js";
import { isForRemainder, planMetadata } from "./session-plan.js";

const isGift = ({ provider_id }: SessionPayment) => provider_id === PROVIDER_ID;

/**
 * Deletes sessions at their providers and here, those of other methods first: they refuse where they have the money.
 *
 * @throws {CheckoutError} payment_in_progress where one can't be deleted, whatever its provider fails with
 */
export async function deleteSessions(
  container: MedusaContainer,
  sessions: readonly SessionPayment[],
): Promise<void> {
  for (const session of [...sessions.filter((s) => !isGift(s)), ...sessions.filter(isGift)]) {
    await deleteSession(container, session).catch((error: unknown) => {
      const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
      logger.warn(`giftcard: the payment session ${session.id} can't be deleted: ${nameOf(error)}`);
      throw new CheckoutError("payment_in_progress");
    });
  }
}

/** Medusa's payment module has these for each of its models, and lists them in no type. */
interface SoftDeletes {
  softDeletePayments(ids: string[]): Promise<unknown>;
  softDeletePaymentSessions(ids: string[]): Promise<unknown>;
  restorePaymentSessions(ids: string[]): Promise<unknown>;
}

/**
 * Deletes a session, and cancels its payment then: in this order, so that nobody pays an order with a payment that is
 * being canceled. Where the cancel fails, recovery finds the payment. One that is over is nothing to cancel.
 *
 * @param isFree whether no order has the session, asked once it is deleted; where one has, it is put back
 * @throws what the provider fails with; payment_in_progress where the payment is captured, or belongs to an order
 */
export async function deleteSession(
  container: MedusaContainer,
  session: SessionPayment,
  isFree: () => Promise<boolean> = async () => true,
): Promise<void> {
  const { id, status, payment } = session;
  const payments = container.resolve(Modules.PAYMENT);
  if (!payment) return status === null ? undefined : payments.deletePaymentSession(id);
  if (payment.isCaptured || (isGift(session) && (await isOrdered(container, id))))
    throw new CheckoutError("payment_in_progress");
  if (status !== null && !(await withdrawSession(container, session, isFree))) return;
  if (!payment.isOver) await payments.cancelPayment(payment.id);
  // Its charge stands in the journal. In the order's list of payments somebody would refund the wrong one.
  if (isGift(session)) await (payments as unknown as SoftDeletes).softDeletePayments([payment.id]);
}

/**
 * Takes a session away here alone, and looks then again whether an order has it: a completion writes its order down before
 * it reads the session, so one of the two sees the other.
 *
 * @returns false where an order has it; then it stays, or is put back
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
  await putBackSession(container, id);
  return false;
}

/** Takes the withdrawal of a session back. */
export async function putBackSession(container: MedusaContainer, sessionId: string): Promise<void> {
  const payments = container.resolve(Modules.PAYMENT) as unknown as SoftDeletes;
  await payments.restorePaymentSessions([sessionId]);
}

/** Whether one of the session's charges belongs to an order. */
async function isOrdered(container: MedusaContainer, sessionId: string): Promise<boolean> {
  const charges = await contextOf(container).engine.journal.chargesOfPayment(sessionId);
  return charges.some(({ state }) => orderedStates.includes(state));
}

/**
 * Creates the session in which one card pays its part.
 *
 * @param payment the cart, with its payment collection
 * @param index which of the plan's cards
 * @returns the session's id
 */
export async function createGiftSession(
  container: MedusaContainer,
  { collectionId }: Pick<CartPayment, "collectionId">,
  plan: PaymentPlan,
  index: number,
): Promise<string> {
  const part = plan.parts[index];
  if (!part) throw new TypeError(`The plan has no part ${index}.`);
  const session = await container.resolve(Modules.PAYMENT).createPaymentSession(collectionId ?? "", {
    provider_id: PROVIDER_ID,
    currency_code: "eur",
    amount: fromCents(part.amountCents) as never,
    data: {},
    context: { [LAST_FOUR]: part.lastFour } as never,
    metadata: planMetadata(plan),
  });
  return session.id;
}

/**
 * Makes a session that asks for nothing, in place of all others, for a page that wants one before it places an order which
 * the cards pay alone. It is Medusa's manual one, whatever method was chosen: pages place an order with it at once, and
 * others can't ask for 0.00. It goes when the order is placed.
 *
 * @throws as `deleteSessions`
 */
export async function createEmptySession(
  container: MedusaContainer,
  { collectionId, otherSessions, deadSessions, giftSessions }: CartPayment,
  plan: PaymentPlan,
): Promise<void> {
  await deleteSessions(container, [...otherSessions, ...deadSessions, ...giftSessions]);
  await container.resolve(Modules.PAYMENT).createPaymentSession(collectionId ?? "", {
    ...{ provider_id: MANUAL_PROVIDER_ID, currency_code: "eur", amount: 0, data: {} },
    metadata: planMetadata(plan),
  });
}

/** Deletes sessions that were made for other cards than the plan's; the page makes a new one. @throws as `deleteSessions` */
export async function dropStaleSessions(
  container: MedusaContainer,
  payment: CartPayment,
  plan: PaymentPlan,
): Promise<void> {
  const stale = payment.otherSessions.filter((session) => !isForRemainder(session, plan));
  await deleteSessions(container, [...stale, ...payment.deadSessions, ...payment.giftSessions]);
}

/** A payment that another method has made already fits one amount only. @throws {CheckoutError} payment_in_progress */
export function refusePaid(sessions: readonly SessionView[]): void {
  if (sessions.some((session) => session.payment)) throw new CheckoutError("payment_in_progress");
}
