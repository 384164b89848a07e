import { sqlInterval, sqlList } from "@giftcard-pay/checkout/plugin";
import { orderedStates, settledStates } from "@giftcard-pay/checkout/store";
import { readRows, readTexts } from "../rows.js";
import { PAYMENT_STANDING } from "./payments.js";
import { hasNoOrder, type PlacedCart, SCANNED, type Scan } from "./scan.js";

const ORDERED = sqlList(orderedStates);

/** A charge of a canceled order that is still on its card, or whose payment is still open in Medusa. */
export interface ChargedCanceled {
  readonly reference: string;
  readonly state: string;
  readonly orderId: string;
  readonly paymentId: string;
}

/** A charge of an order that Medusa has deleted. */
export interface OrderlessCharge extends PlacedCart {
  readonly reference: string;
  readonly sessionId: string;
}

/**
 * Finds charges of canceled orders that aren't reversed. Medusa also cancels an order if canceling one of its payments
 * fails. If the journal couldn't be written at that moment either, nothing else records that the card is owed money.
 */
export const findChargedCanceled = ({ sql, after, only }: Scan): Promise<ChargedCanceled[]> =>
  readRows(
    sql,
    `with ${SCANNED} select charge.reference, charge.state, charge.order_id as "orderId", p.id as "paymentId" from scanned charge
     cross join lateral (select 1 from "order" where id = charge.order_id and canceled_at is not null offset 0) o
     cross join lateral (select id, canceled_at, raw_amount from payment
       where payment_session_id = charge.external_id and deleted_at is null offset 0) p
     cross join lateral (${PAYMENT_STANDING} offset 0) standing
     where charge.state in (${ORDERED})
       or (charge.state in ('reversing', 'reversed') and not standing."isCanceled" and not standing."isRefunded")
     order by charge.reference`,
    [after, only],
  );

/**
 * Finds charges of deleted orders. Medusa deletes the order of a failed completion even if the journal couldn't be written
 * when the completion was voided. The journal then names an order that doesn't exist.
 */
export const findOrderless = ({ sql, after, only, leaseMs }: Scan): Promise<OrderlessCharge[]> =>
  readRows(
    sql,
    `with ${SCANNED} select charge.reference, charge.order_id as "orderId", charge.cart_id as "cartId",
       charge.external_id as "sessionId" from scanned charge
     cross join lateral (select updated_at from giftcard_charge where reference = charge.reference offset 0) entry
     where charge.state in (${ORDERED}) and charge.order_id is not null
       and entry.updated_at < now() - ${sqlInterval("$3")}
       and (select count(*) from "order" where id = charge.order_id) = 0
     order by charge.reference`,
    [after, only, leaseMs],
  );

/**
 * Finds carts with a paid order that are open. If two processes complete a cart at once, Medusa opens it again when it voids
 * the second order.
 */
export const findReopened = ({ sql, after, only, leaseMs }: Scan): Promise<PlacedCart[]> =>
  readRows(
    sql,
    `with ${SCANNED} select distinct charge.order_id as "orderId", charge.cart_id as "cartId" from scanned charge
     cross join lateral (select created_at from "order" where id = charge.order_id and deleted_at is null offset 0) placed
     cross join lateral (select 1 from cart where id = charge.cart_id and completed_at is null and deleted_at is null offset 0) open
     where charge.state in (${ORDERED}) and placed.created_at < now() - ${sqlInterval("$3")}
     order by charge.order_id`,
    [after, only, leaseMs],
  );

/**
 * Finds carts without an order that are closed. If two processes fail to complete a cart at once, Medusa restores what the
 * second one had read, when the first one had closed the cart. A completion may also have crashed before it charged a card.
 * The shopper can't use such a cart.
 */
export const findClosed = ({ sql, after, only, leaseMs }: Scan): Promise<string[]> =>
  readTexts(
    sql,
    `with ${SCANNED}, candidate as materialized (
       select cart_id as id from scanned where state in (${sqlList(settledStates)})
       union select cart_id from giftcard_tender where state = 'applied' and ($2::text is null or cart_id = $2)
     ), closed as materialized (
       select candidate.id from candidate
       cross join lateral (select 1 from cart where id = candidate.id and completed_at is not null and deleted_at is null
         and updated_at < now() - ${sqlInterval("$3")} offset 0) cart
     )
     select id from closed where ${hasNoOrder("closed.id")}
       and (select count(*) from giftcard_cart_lease where cart_id = closed.id and until > now()) = 0
     order by id`,
    [after, only, leaseMs],
  );

/** Finds orders with charged cards that aren't recorded as paid. Reads only the plugin's own tables. */
export const findUnnoted = ({ sql, after, only }: Scan): Promise<string[]> =>
  readTexts(
    sql,
    `with ${SCANNED} select distinct order_id from scanned
     where order_id is not null and state in (${ORDERED})
       and (select count(*) from giftcard_order where order_id = scanned.order_id and paid_at is not null) = 0`,
    [after, only],
  );

/** An order with card payments to capture. */
export interface UncapturedOrder extends PlacedCart {
  readonly paymentIds: readonly string[];
}

/**
 * Finds paid orders whose cards are still to be captured; none if the shop captures by hand. Leaves out a capture that was
 * begun: it is an unrecorded payment, and an order that a person has exempted.
 */
export const findUncaptured = ({ sql, after, only, leaseMs, capture }: Scan): Promise<UncapturedOrder[]> =>
  readRows(
    sql,
    `with ${SCANNED}, card as (
       select distinct order_id, cart_id, external_id from scanned
       where order_id is not null and state in (${ORDERED}) and $4 <> 'manual'
     )
     select card.order_id as "orderId", card.cart_id as "cartId", json_agg(p.id order by p.id) as "paymentIds"
     from card
     cross join lateral (select id from payment where payment_session_id = card.external_id
       and captured_at is null and canceled_at is null and deleted_at is null offset 0) p
     cross join lateral (select 1 from "order" where id = card.order_id and canceled_at is null and deleted_at is null
       and created_at <= now() - ${sqlInterval("$3")} offset 0) o
     where (select count(*) from capture where payment_id = p.id and deleted_at is null) = 0
       and (select count(*) from giftcard_job where kind = 'capture' and id = card.order_id and exempted_at is not null) = 0
       and (select count(*) from giftcard_order where order_id = card.order_id and paid_at is not null) > 0
     group by card.order_id, card.cart_id order by card.order_id`,
    [after, only, leaseMs, capture],
  );
