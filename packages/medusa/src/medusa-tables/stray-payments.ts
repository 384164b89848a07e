import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";
import { chargingStates, orderedStates } from "@giftcard-pay/checkout/store";
import { PROVIDER_ID } from "../names.js";
import { PAYMENT_STANDING } from "./payments.js";
import { SCANNED, type Scan } from "./scan.js";
import { stateList } from "./state-list.js";

/** A payment that holds or took money, and that no order has. */
export interface StrayPayment {
  readonly paymentId: string;
  readonly sessionId: string;
  readonly cartId: string;
}

/** There is no order, by either of Medusa's links, and no charge that one is being placed with. */
const hasNoOrder = (cartId: string) =>
  `(select count(*) from order_cart where cart_id = ${cartId} and deleted_at is null) = 0
   and (select count(*) from cart_payment_collection pays join order_payment_collection ordered
     on ordered.payment_collection_id = pays.payment_collection_id and ordered.deleted_at is null
     where pays.cart_id = ${cartId} and pays.deleted_at is null) = 0
   and (select count(*) from giftcard_charge other where other.cart_id = ${cartId}
     and other.state in (${stateList([...chargingStates, ...orderedStates])})) = 0`;

/**
 * Payments of carts that have, or had, gift cards and no order. A webhook waits for its bank while a card is refused:
 * Medusa writes the bank's payment down when the completion is voided already. Or a process died, or the payment couldn't
 * be canceled then. Those that recovery has begun to release are found until they are.
 *
 * Reads cart_payment_collection, order_payment_collection, payment, capture, refund and order_cart, beside the plugin's own.
 */
export async function findStrayPayments({ sql, after, only, leaseMs }: Scan): Promise<StrayPayment[]> {
  const rows = await sql(
    `with ${SCANNED}, cart as materialized (
       select cart_id as id from scanned where state not in (${stateList([...chargingStates, ...orderedStates])})
       union select cart_id from giftcard_tender
         where state in ('applied', 'charging') and ($2::text is null or cart_id = $2)
     )
     select p.id as payment_id, p.payment_session_id as session_id, cart.id as cart_id from cart
     cross join lateral (select payment_collection_id as id from cart_payment_collection
       where cart_id = cart.id and deleted_at is null offset 0) collection
     cross join lateral (select id, payment_session_id, canceled_at, raw_amount from payment
       where payment_collection_id = collection.id and deleted_at is null and canceled_at is null
         and updated_at < now() - ${sqlInterval("$3")} offset 0) p
     cross join lateral (${PAYMENT_STANDING} offset 0) standing
     where (standing.is_partial or standing.captured_left::numeric > 0) and ${hasNoOrder("cart.id")}
       and (select count(*) from giftcard_cart_lease where cart_id = cart.id and until > now()) = 0
     union
     select release.payment_id, p.payment_session_id, release.cart_id from giftcard_release release
     left join payment p on p.id = release.payment_id where $2::text is null or release.cart_id = $2
     order by payment_id`,
    [after, only, leaseMs],
  );
  return rows.map((row) => ({
    paymentId: String(row.payment_id),
    sessionId: String(row.session_id),
    cartId: String(row.cart_id),
  }));
}

/** A payment by another method that a canceled order still holds. */
export interface CanceledPayment {
  readonly paymentId: string;
  readonly orderId: string;
  readonly cartId: string;
}

/**
 * Payments by other methods of canceled orders that cards paid too, which still hold or took money. Medusa cancels an order
 * also when a payment's own cancelation or refund fails, and tells nobody. Those of unpaid orders go with the
 * order, unless a person wanted that one kept.
 *
 * Reads order, order_payment_collection, payment, capture and refund, beside the plugin's own.
 */
export async function findCanceledPayments({ sql, after, only, leaseMs }: Scan): Promise<CanceledPayment[]> {
  const rows = await sql(
    `with ${SCANNED} select distinct p.id as payment_id, charge.order_id, charge.cart_id from scanned charge
     cross join lateral (select 1 from "order" where id = charge.order_id
       and canceled_at < now() - ${sqlInterval("$3")} offset 0) o
     cross join lateral (select payment_collection_id as id from order_payment_collection
       where order_id = charge.order_id and deleted_at is null offset 0) collection
     cross join lateral (select id, canceled_at, raw_amount from payment where payment_collection_id = collection.id
       and provider_id <> $4 and deleted_at is null and canceled_at is null offset 0) p
     cross join lateral (${PAYMENT_STANDING} offset 0) standing
     where (standing.captured_left is null or standing.captured_left::numeric > 0)
       and (select count(*) from giftcard_unpaid_order where order_id = charge.order_id and kept_at is null) = 0
     order by payment_id`,
    [after, only, leaseMs, PROVIDER_ID],
  );
  return rows.map((row) => ({
    paymentId: String(row.payment_id),
    orderId: String(row.order_id),
    cartId: String(row.cart_id),
  }));
}

/**
 * Whether the cart has no order, and none is being placed.
 *
 * Reads order_cart, cart_payment_collection and order_payment_collection, beside the cart's charges.
 */
export async function isOrderless(sql: Sql, cartId: string): Promise<boolean> {
  const [row] = await sql(`select ${hasNoOrder("$1")} as is_orderless`, [cartId]);
  return row?.is_orderless === true;
}

/**
 * Whether the cart's order was there already when a session of the cart was deleted: then the order has its payment.
 *
 * Reads order_cart and payment_session.
 */
export async function hadOrder(sql: Sql, cartId: string, sessionId: string): Promise<boolean> {
  const rows = await sql(
    `select 1 from order_cart ordered join payment_session s on s.id = $2
     where ordered.cart_id = $1 and ordered.deleted_at is null and ordered.created_at <= s.deleted_at`,
    [cartId, sessionId],
  );
  return rows.length > 0;
}
