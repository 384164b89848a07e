import { type Sql, sqlInterval, sqlList } from "@giftcard-pay/checkout/plugin";
import { onCartStates } from "@giftcard-pay/checkout/store";
import { PROVIDER_ID } from "../names.js";
import { hasRows, readRows } from "../rows.js";
import { PAYMENT_STANDING } from "./payments.js";
import { ACTIVE, hasNoOrder, isKeptSql, type PlacedCart, SCANNED, type Scan } from "./scan.js";

/** A payment that holds or took money, and that no order has. */
export interface StrayPayment {
  readonly paymentId: string;
  /** null if Medusa has deleted the payment. */
  readonly sessionId: string | null;
  readonly cartId: string;
}

/**
 * Finds payments of carts that have, or had, gift cards and no order. A webhook can wait for its bank while a card is
 * refused: Medusa then writes the bank's payment after the completion was voided. A process may also have died, or the
 * payment couldn't be canceled. Includes payments whose release has started but not finished.
 */
export const findStrayPayments = ({ sql, after, only, leaseMs }: Scan): Promise<StrayPayment[]> =>
  readRows(
    sql,
    `with ${SCANNED}, cart as materialized (
       select cart_id as id from scanned where state not in (${ACTIVE})
       union select cart_id from giftcard_tender
         where state in (${sqlList(onCartStates)}) and ($2::text is null or cart_id = $2)
     )
     select p.id as "paymentId", p.payment_session_id as "sessionId", cart.id as "cartId" from cart
     cross join lateral (select payment_collection_id as id from cart_payment_collection
       where cart_id = cart.id and deleted_at is null offset 0) collection
     cross join lateral (select id, payment_session_id, canceled_at, raw_amount from payment
       where payment_collection_id = collection.id and deleted_at is null and canceled_at is null
         and updated_at < now() - ${sqlInterval("$3")} offset 0) p
     cross join lateral (${PAYMENT_STANDING} offset 0) standing
     where (standing."isPartial" or standing."capturedLeft"::numeric > 0) and ${hasNoOrder("cart.id")}
       and (select count(*) from giftcard_cart_lease where cart_id = cart.id and until > now()) = 0
     union
     select release.payment_id, p.payment_session_id, release.cart_id from giftcard_release release
     left join payment p on p.id = release.payment_id where $2::text is null or release.cart_id = $2
     order by "paymentId"`,
    [after, only, leaseMs],
  );

/** A payment by another method that a canceled order still holds. */
export interface CanceledPayment extends PlacedCart {
  readonly paymentId: string;
}

/**
 * Finds payments by other methods that canceled orders with gift cards still hold. Medusa also cancels an order if canceling
 * or refunding one of its payments fails, and reports nothing. Payments of unpaid orders are released with their order,
 * unless a person has exempted it.
 */
export const findCanceledPayments = ({ sql, after, only, leaseMs }: Scan): Promise<CanceledPayment[]> =>
  readRows(
    sql,
    `with ${SCANNED} select distinct p.id as "paymentId", charge.order_id as "orderId", charge.cart_id as "cartId"
     from scanned charge
     cross join lateral (select 1 from "order" where id = charge.order_id
       and canceled_at < now() - ${sqlInterval("$3")} offset 0) o
     cross join lateral (select payment_collection_id as id from order_payment_collection
       where order_id = charge.order_id and deleted_at is null offset 0) collection
     cross join lateral (select id, canceled_at, raw_amount from payment where payment_collection_id = collection.id
       and provider_id <> $4 and deleted_at is null and canceled_at is null offset 0) p
     cross join lateral (${PAYMENT_STANDING} offset 0) standing
     where (standing."capturedLeft" is null or standing."capturedLeft"::numeric > 0)
       and ((select count(*) from giftcard_unpaid_order where order_id = charge.order_id) = 0 or ${isKeptSql("charge.order_id")})
     order by "paymentId"`,
    [after, only, leaseMs, PROVIDER_ID],
  );

/** Tells whether the cart has no order, and none is being placed. */
export const isOrderless = (sql: Sql, cartId: string): Promise<boolean> =>
  hasRows(sql, `select 1 where ${hasNoOrder("$1")}`, [cartId]);

/** Tells whether the cart already had its order when a session of the cart was deleted. The order then has its payment. */
export const hadOrder = (sql: Sql, cartId: string, sessionId: string): Promise<boolean> =>
  hasRows(
    sql,
    `select 1 from order_cart ordered join payment_session s on s.id = $2
     where ordered.cart_id = $1 and ordered.deleted_at is null and ordered.created_at <= s.deleted_at`,
    [cartId, sessionId],
  );
