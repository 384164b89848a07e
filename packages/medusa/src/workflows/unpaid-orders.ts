import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, MedusaError, Modules } from "@medusajs/framework/utils";
import { cancelOrderWorkflow, deletePaymentSessionsWorkflow } from "@medusajs/medusa/core-flows";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { COVERED_CENTS, GIFTCARD_MODULE } from "../names.js";
import { type OrderPayment, readOrderPayment } from "./order-payment.js";
import { withCartLock } from "./sessions.js";
import { forgetUnended, handToPerson, isKept, noteCanceled, noteUnended } from "./unended-orders.js";

/** An order, and the cart that it was. */
export interface PlacedCart {
  readonly orderId: string;
  readonly cartId: string;
}

/**
 * Orders whose cart still holds a gift card that nobody charges now. A completion that ended well leaves none, but for
 * cards that weren't needed; one that died before it had charged the cards, or was undone, leaves them.
 *
 * @param graceMs how long a completion may take from placing the order to charging the first card
 */
export async function findCardsBesideOrders(
  container: MedusaContainer,
  graceMs: number,
): Promise<PlacedCart[]> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const rows = await runSql(
    `select distinct placed.order_id, placed.cart_id from giftcard_tender tender
     cross join lateral (select order_id, cart_id from order_cart
       where cart_id = tender.cart_id and deleted_at is null offset 0) placed
     cross join lateral (select created_at from "order"
       where id = placed.order_id and canceled_at is null and deleted_at is null offset 0) o
     where tender.state in ('applied', 'charging')
       and o.created_at < now() - ($1::float8 * interval '1 millisecond')
       and (select count(*) from giftcard_attempt attempt where attempt.cart_id = tender.cart_id
         and attempt.state in ('intent', 'sent', 'devalued')) = 0
     limit 100`,
    [graceMs],
  );
  return rows.map(toPlacedCart);
}

/** Orders beside whose cards another method has promised to pay the rest, and hasn't in all this time. */
export async function findLapsedRemainders(
  container: MedusaContainer,
  lifeMs: number,
): Promise<PlacedCart[]> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const rows = await runSql(
    `select placed.order_id, placed.cart_id from giftcard_remainder remainder
     cross join lateral (select 1 from payment_session
       where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null
         and created_at < now() - ($1::float8 * interval '1 millisecond') offset 0) session
     cross join lateral (select order_id, cart_id from order_cart
       where cart_id = remainder.cart_id and deleted_at is null offset 0) placed
     cross join lateral (select 1 from "order"
       where id = placed.order_id and canceled_at is null and deleted_at is null offset 0) o
     limit 100`,
    [lifeMs],
  );
  return rows.map(toPlacedCart);
}

/** Writes down, before it is asked, that a method may promise to pay this cart's rest later. */
export async function expectRemainder(
  container: MedusaContainer,
  sessionId: string,
  cartId: string,
): Promise<void> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  await runSql(
    "insert into giftcard_remainder (session_id, cart_id) values ($1, $2) on conflict (session_id) do nothing",
    [sessionId, cartId],
  );
}

/** Forgets remainders that nobody waits for any more. */
export async function forgetRemainders(container: MedusaContainer): Promise<void> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  await runSql(
    `delete from giftcard_remainder remainder where created_at < now() - interval '1 day' and (select count(*)
       from payment_session where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null) = 0`,
    [],
  );
}

/** The order that waits for this session's payment beside gift cards, or null. */
export async function orderOfPendingSession(
  container: MedusaContainer,
  sessionId: string,
): Promise<PlacedCart | null> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const [row] = await runSql(
    `select placed.order_id, placed.cart_id from payment_session session
     join order_payment_collection link on link.payment_collection_id = session.payment_collection_id
       and link.deleted_at is null
     join order_cart placed on placed.order_id = link.order_id and placed.deleted_at is null
     where session.id = $1 and session.status = 'pending_authorization' and session.deleted_at is null
       and session.metadata ? '${COVERED_CENTS}'`,
    [sessionId],
  );
  return row ? toPlacedCart(row) : null;
}

const toPlacedCart = (row: Record<string, unknown>): PlacedCart => ({
  orderId: String(row.order_id),
  cartId: String(row.cart_id),
});

/**
 * Cancels an order that nobody paid, so that nobody ships it: first no card of its cart can be charged any more, then
 * what other methods hold is given back, last the order is canceled, which reloads charged cards too. An order that is
 * paid only loses the cards that it didn't need. One that Medusa refuses to cancel waits for a person.
 *
 * @param options.mayBePending false where a payment that settles later has failed, or has taken too long
 * @returns true when the order was canceled now
 * @throws what the other method or Medusa fails with; called again, it goes on where it stopped
 */
export async function endUnpaidOrder(
  container: MedusaContainer,
  { orderId, cartId }: PlacedCart,
  { mayBePending }: { mayBePending: boolean },
): Promise<boolean> {
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  return withCartLock(container, cartId, async () => {
    if (await isKept(container, orderId)) return false;
    await noteUnended(container, { orderId, cartId, mayBePending });
    // A completion that was frozen before it charged a card can't begin any more once its card is off the cart.
    for (const { id } of (await engine.journal.tenders(cartId)).filter(({ state }) => state === "applied")) {
      if ((await engine.journal.removeTender(cartId, id)) === "charging") return false;
    }
    const payment = await readOrderPayment(container, orderId);
    if (payment?.isCanceled) {
      await giveBackHeld(container, payment);
      await noteCanceled(container, orderId);
      return false;
    }
    const paidCents = payment ? payment.paidCents + (mayBePending ? payment.pendingCents : 0) : 0;
    if (!payment || paidCents >= payment.totalCents) {
      await forgetUnended(container, orderId);
      return false;
    }
    if (!(await cancelUnpaid(container, orderId, payment))) return false;
    await noteCanceled(container, orderId);
    const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
    logger.warn(`giftcard order=${orderId} cart=${cartId} canceled: it was not paid`);
    return true;
  });
}

/** What a frozen completion authorized when it went on, after its order was canceled. */
async function giveBackHeld(container: MedusaContainer, { heldPayments }: OrderPayment): Promise<void> {
  const payments = container.resolve(Modules.PAYMENT);
  for (const { id, isCaptured } of heldPayments) {
    if (isCaptured) await payments.refundPayment({ payment_id: id });
    else await payments.cancelPayment(id);
  }
}

/** @returns false when Medusa refuses: a person has to do something first */
async function cancelUnpaid(
  container: MedusaContainer,
  orderId: string,
  { openPaymentIds, openSessionIds }: OrderPayment,
): Promise<boolean> {
  for (const id of openPaymentIds) await container.resolve(Modules.PAYMENT).cancelPayment(id);
  if (openSessionIds.length > 0) {
    await deletePaymentSessionsWorkflow(container).run({ input: { ids: [...openSessionIds] } });
  }
  try {
    await cancelOrderWorkflow(container).run({ input: { order_id: orderId } });
    return true;
  } catch (error) {
    const refusal = error as { type?: string; message: string };
    if (refusal.type !== MedusaError.Types.NOT_ALLOWED) throw error;
    await handToPerson(container, orderId, refusal.message);
    return false;
  }
}
