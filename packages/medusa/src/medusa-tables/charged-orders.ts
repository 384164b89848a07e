import { sqlInterval } from "@giftcard-pay/checkout/plugin";
import { orderedStates, settledStates } from "@giftcard-pay/checkout/store";
import { PAYMENT_STANDING } from "./payments.js";
import { type PlacedCart, toPlacedCart } from "./placed-cart.js";
import { SCANNED, type Scan } from "./scan.js";
import { stateList } from "./state-list.js";

/** A card that is charged for an order which is canceled, or whose payment still stands in Medusa. */
export interface ChargedCanceled {
  readonly reference: string;
  readonly state: string;
  readonly orderId: string;
  readonly paymentId: string;
}

/** A card that is charged for an order which Medusa has deleted. */
export interface OrderlessCharge {
  readonly reference: string;
  readonly orderId: string;
  readonly cartId: string;
  /** The payment session that it was charged in. */
  readonly sessionId: string;
}

/**
 * Medusa cancels an order also when a payment's own cancelation fails. Where not even the journal could be written
 * then, nobody owes the card its reversal; and where it could, the payment still looks alive. These are they.
 *
 * Reads order, payment, capture and refund.
 */
export async function findChargedCanceled({ sql, after, only }: Scan): Promise<ChargedCanceled[]> {
  const rows = await sql(
    `with ${SCANNED} select charge.reference, charge.state, charge.order_id, p.id as payment_id from scanned charge
     cross join lateral (select 1 from "order" where id = charge.order_id and canceled_at is not null offset 0) o
     cross join lateral (select id, canceled_at, raw_amount from payment
       where payment_session_id = charge.external_id and deleted_at is null offset 0) p
     cross join lateral (${PAYMENT_STANDING} offset 0) standing
     where charge.state in (${stateList(orderedStates)})
       or (charge.state in ('reversing', 'reversed') and not standing.is_canceled and not standing.is_refunded)
     order by charge.reference`,
    [after, only],
  );
  return rows.map((row) => ({
    reference: String(row.reference),
    state: String(row.state),
    orderId: String(row.order_id),
    paymentId: String(row.payment_id),
  }));
}

/**
 * Medusa deletes the order of a completion that failed, also where the journal couldn't be written when the completion
 * was voided. Then the journal says that an order has the charge, and there is no such order. These are they.
 *
 * Reads order.
 */
export async function findOrderless({ sql, after, only, leaseMs }: Scan): Promise<OrderlessCharge[]> {
  const rows = await sql(
    `with ${SCANNED} select charge.reference, charge.order_id, charge.cart_id, charge.external_id from scanned charge
     cross join lateral (select updated_at from giftcard_charge where reference = charge.reference offset 0) entry
     where charge.state in (${stateList(orderedStates)}) and charge.order_id is not null
       and entry.updated_at < now() - ${sqlInterval("$3")}
       and (select count(*) from "order" where id = charge.order_id) = 0
     order by charge.reference`,
    [after, only, leaseMs],
  );
  return rows.map((row) => ({
    reference: String(row.reference),
    orderId: String(row.order_id),
    cartId: String(row.cart_id),
    sessionId: String(row.external_id),
  }));
}

/**
 * Carts with a paid order that look open: where two processes completed one at once, Medusa opened it again when it
 * voided the second order.
 *
 * Reads order and cart.
 */
export async function findReopened({ sql, after, only, leaseMs }: Scan): Promise<PlacedCart[]> {
  const rows = await sql(
    `with ${SCANNED} select distinct charge.order_id, charge.cart_id from scanned charge
     cross join lateral (select created_at from "order" where id = charge.order_id and deleted_at is null offset 0) placed
     cross join lateral (select 1 from cart where id = charge.cart_id and completed_at is null and deleted_at is null offset 0) open
     where charge.state in (${stateList(orderedStates)}) and placed.created_at < now() - ${sqlInterval("$3")}
     order by charge.order_id`,
    [after, only, leaseMs],
  );
  return rows.map(toPlacedCart);
}

/**
 * Carts without an order that look ordered: where two processes failed to complete one at once, Medusa put back what the
 * second had found, and the first one had closed the cart by then. The shopper can't go on with such a cart.
 *
 * Reads cart and order_cart, beside the carts' leases.
 */
export async function findClosed({ sql, after, only, leaseMs }: Scan): Promise<string[]> {
  const rows = await sql(
    `with ${SCANNED} select distinct charge.cart_id from scanned charge
     cross join lateral (select 1 from cart where id = charge.cart_id and completed_at is not null and deleted_at is null
       and updated_at < now() - ${sqlInterval("$3")} offset 0) closed
     where charge.state in (${stateList(settledStates)})
       and (select count(*) from order_cart where cart_id = charge.cart_id and deleted_at is null) = 0
       and (select count(*) from giftcard_cart_lease where cart_id = charge.cart_id and until > now()) = 0
     order by charge.cart_id`,
    [after, only, leaseMs],
  );
  return rows.map((row) => String(row.cart_id));
}

/**
 * Orders that cards were charged for, and of which it isn't written down that they are paid.
 *
 * Reads the plugin's own tables alone.
 */
export async function findUnnoted({ sql, after, only }: Scan): Promise<string[]> {
  const rows = await sql(
    `with ${SCANNED} select distinct order_id from scanned
     where order_id is not null and state in (${stateList(orderedStates)})
       and (select count(*) from giftcard_order where order_id = scanned.order_id and paid_at is not null) = 0`,
    [after, only],
  );
  return rows.map((row) => String(row.order_id));
}
