import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { withCartLock } from "../cart/cart-turn.js";
import { restoreSession, withdrawSession } from "../cart/sessions.js";
import { contextOf } from "../context/context.js";
import { readPaymentStanding, readSessionPayments } from "../medusa-tables/payments.js";
import { hadOrder, isOrderless, type StrayPayment } from "../medusa-tables/stray-payments.js";
import { hasRows } from "../rows.js";

/** A payment without an order, as Medusa records it. */
export interface Release {
  readonly paymentId: string;
  readonly cartId: string;
  /** The captured amount minus its refunds, in major units; null if nothing was captured. */
  readonly capturedLeft: string | null;
  /** Whether only a part was captured, so that the remainder has to be canceled. */
  readonly isPartial?: boolean;
}

export const unknownRefund = () =>
  new MedusaError(
    MedusaError.Types.UNEXPECTED_STATE,
    "A refund of this payment was begun, and nobody knows whether it was made. Check the payment method: if the money was " +
      "refunded, leave this as it is; if not, try again, or refund it there.",
  );

/**
 * Cancels a payment of another method, and refunds its captured amount. A refund is requested only once. If its
 * response is lost, or the process dies, a person must look, since a second request could refund the money twice.
 * @param isAsked a person has looked, and wants it retried
 * @throws the payment method's error; unknownRefund if a refund was begun before
 */
export async function releasePayment(
  container: MedusaContainer,
  { paymentId, cartId, capturedLeft, isPartial = false }: Release,
  isAsked: boolean,
): Promise<void> {
  const { sql } = contextOf(container);
  const payments = container.resolve(Modules.PAYMENT);
  if (capturedLeft !== null) {
    if (!(await beginRefund(sql, paymentId, cartId, isAsked))) throw unknownRefund();
    if (Number(capturedLeft) > 0)
      await payments.refundPayment({ payment_id: paymentId, amount: capturedLeft as never });
    // The remainder of the payment may still have to be canceled.
    await sql("update giftcard_release set refund_begun_at = null where payment_id = $1", [paymentId]);
  }
  if (capturedLeft === null || isPartial) await payments.cancelPayment(paymentId);
  await endRelease(sql, paymentId);
}

/** Cancels or refunds a gift card's payment in Medusa. The journal makes sure that the card gets its money once. */
export async function releaseGiftcardPayment(
  container: MedusaContainer,
  { paymentId, capturedLeft }: Pick<Release, "paymentId" | "capturedLeft">,
): Promise<void> {
  const payments = container.resolve(Modules.PAYMENT);
  if (capturedLeft === null) await payments.cancelPayment(paymentId);
  else await payments.refundPayment({ payment_id: paymentId, amount: capturedLeft as never });
}

/**
 * Records that a payment is to be released, before anything is done, so that recovery finds it until it is.
 * @returns whether a refund of it was begun before
 */
async function beginRelease(sql: Sql, paymentId: string, cartId: string): Promise<boolean> {
  const [row] = await sql(
    `insert into giftcard_release as known (payment_id, cart_id) values ($1, $2)
     on conflict (payment_id) do update set cart_id = known.cart_id returning refund_begun_at`,
    [paymentId, cartId],
  );
  return row?.refund_begun_at != null;
}

/** Records that a refund begins. @returns false if one was begun before, and nobody has asked for another */
const beginRefund = (sql: Sql, paymentId: string, cartId: string, isAsked: boolean): Promise<boolean> =>
  hasRows(
    sql,
    `insert into giftcard_release as known (payment_id, cart_id, refund_begun_at) values ($1, $2, now())
     on conflict (payment_id) do update set refund_begun_at = now() where known.refund_begun_at is null or $3
     returning 1`,
    [paymentId, cartId, isAsked],
  );

/** Deletes the record of a payment that is released, or that turned out to have an order. */
async function endRelease(sql: Sql, paymentId: string): Promise<void> {
  await sql("delete from giftcard_release where payment_id = $1", [paymentId]);
}

/**
 * Releases a payment that no order has: the shopper gets the money back, and pays again. Its session is deleted first, so
 * that no completion can use it from then on, however long this process stalls.
 * @param isAsked a person wants it retried
 * @throws the payment method's error, or one if another job uses the cart for too long
 */
export async function releaseStray(
  container: MedusaContainer,
  { paymentId, sessionId, cartId }: StrayPayment,
  isAsked: boolean,
): Promise<void> {
  const { sql } = contextOf(container);
  await withCartLock(container, cartId, async () => {
    const isRefundBegun = await beginRelease(sql, paymentId, cartId);
    const isFree = () => isOrderless(sql, cartId);
    const sessions = sessionId === null || isRefundBegun ? [] : await readSessionPayments(sql, [sessionId]);
    for (const session of sessions) {
      const isGone = session.status === null;
      // Another process may have withdrawn this session from an order, then crashed before it restored the session.
      if (isGone && (await hadOrder(sql, cartId, session.id))) await restoreSession(container, session.id);
      else if (isGone || (await withdrawSession(container, session, isFree))) continue;
      return endRelease(sql, paymentId);
    }
    const standing = await readPaymentStanding(sql, paymentId);
    if (!standing || standing.isCanceled) return endRelease(sql, paymentId);
    await releasePayment(container, { paymentId, cartId, ...standing }, isAsked);
    const line = `giftcard cart=${cartId} payment=${paymentId} released: no order has it`;
    contextOf(container).logger.warn(line);
  });
}
