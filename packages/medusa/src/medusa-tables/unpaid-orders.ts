import { type Sql, sqlInterval, sqlList } from "@giftcard-pay/checkout/plugin";
import { chargingStates, onCartStates } from "@giftcard-pay/checkout/store";
import { PLAN } from "../names.js";
import { readRow, readRows } from "../rows.js";
import { ORDER_ORIGIN } from "./order-payment.js";
import type { PlacedCart, Scan } from "./scan.js";

/**
 * Why an order ends unpaid: nobody paid it; the payment that was to settle later hasn't in time (`lapsed`); or its method
 * says that it won't (`declined`). Only the first leaves a promise to pay later in force.
 */
export type UnpaidReason = "unpaid" | "remainder_lapsed" | "remainder_declined";

/** An order that may have to be canceled, because nobody paid it. */
export interface UnpaidOrder extends PlacedCart {
  readonly reason: UnpaidReason;
}

/** Whether an order isn't recorded as paid. */
const isOpen = (orderId: string) =>
  `(select count(*) from giftcard_order where order_id = ${orderId} and paid_at is not null) = 0`;

/** The orders of the cart of the tender `tender`, by Medusa's link; without one, the order of its payment collection. */
const ORDERS_OF_CART = `
  select order_id, cart_id from order_cart where cart_id = tender.cart_id and deleted_at is null
  union all
  select ordered.order_id, pays.cart_id from cart_payment_collection pays
  join order_payment_collection ordered on ordered.payment_collection_id = pays.payment_collection_id
    and ordered.deleted_at is null
  where pays.cart_id = tender.cart_id and pays.deleted_at is null
    and (select count(*) from order_cart where cart_id = tender.cart_id and deleted_at is null) = 0`;

/**
 * Finds orders whose cart still has a gift card that nobody is charging. A successful completion leaves only unneeded cards
 * applied. A completion that crashed before it charged the cards, or was voided, leaves its cards applied. If the order is
 * paid, only a card that can still be removed matters. If a crash kept Medusa from linking the order to its cart, their
 * payment collection tells the cart.
 */
export const findCardsBesideOrders = ({ sql, leaseMs, only }: Scan): Promise<UnpaidOrder[]> =>
  readRows(
    sql,
    `select distinct placed.order_id as "orderId", placed.cart_id as "cartId", 'unpaid' as reason from giftcard_tender tender
     cross join lateral (${ORDERS_OF_CART} offset 0) placed
     cross join lateral (select created_at from "order"
       where id = placed.order_id and canceled_at is null and deleted_at is null offset 0) o
     where tender.state in (${sqlList(onCartStates)}) and ($2::text is null or placed.order_id = $2)
       and o.created_at < now() - ${sqlInterval("$1")}
       and (tender.state = 'applied' or (${isOpen("placed.order_id")}))
       and (select count(*) from giftcard_charge charge where charge.cart_id = tender.cart_id
         and charge.state in (${sqlList(chargingStates)})) = 0
     order by placed.order_id`,
    [leaseMs, only],
  );

/**
 * Finds orders whose remainder another method has promised to pay, and hasn't paid in time. Also finds orders that a person
 * canceled meanwhile: Medusa cancels payments, but leaves the promise in force. The promise must end, and what was paid by it
 * since must be refunded.
 */
export const findEndedRemainders = ({ sql, promisedRemainderMs, only }: Scan): Promise<UnpaidOrder[]> =>
  readRows(
    sql,
    `select distinct placed.order_id as "orderId", placed.cart_id as "cartId",
       case when o.canceled_at is null then 'remainder_lapsed' else 'unpaid' end as reason
     from giftcard_remainder remainder
     cross join lateral (select order_id, cart_id from order_cart
       where cart_id = remainder.cart_id and deleted_at is null offset 0) placed
     cross join lateral (select canceled_at from "order" where id = placed.order_id and deleted_at is null offset 0) o
     where ($2::text is null or placed.order_id = $2) and ${isOpen("placed.order_id")}
       and case when o.canceled_at is null then (select count(*) from payment_session
           where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null
             and created_at < now() - ${sqlInterval("$1")}) > 0
         else (select count(*) from giftcard_unpaid_order where order_id = placed.order_id) = 0 end
     order by placed.order_id`,
    [promisedRemainderMs, only],
  );

interface OrderLinks {
  readonly cartId: string;
  /** Whether the order is linked to the cart itself, and not just to its payment collection. */
  readonly isPlaced: boolean;
  /** The cart's payment collection, if no order has it. */
  readonly looseCollectionId: string | null;
}

/** Reads the links of an order, or null if no link leads to its cart. */
export const readOrderLinks = (sql: Sql, orderId: string): Promise<OrderLinks | null> =>
  readRow(
    sql,
    `select origin.cart_id as "cartId", origin.is_placed as "isPlaced", (select payment_collection_id
       from cart_payment_collection pays where cart_id = origin.cart_id and deleted_at is null
         and (select count(*) from order_payment_collection
           where payment_collection_id = pays.payment_collection_id and deleted_at is null) = 0 limit 1) as "looseCollectionId"
     from "order" o cross join lateral (${ORDER_ORIGIN}) origin where o.id = $1 and o.deleted_at is null`,
    [orderId],
  );

/** Reads the order that waits for this session to pay its remainder, or null. */
export const orderOfPendingSession = (sql: Sql, sessionId: string): Promise<PlacedCart | null> =>
  readRow(
    sql,
    `select placed.order_id as "orderId", placed.cart_id as "cartId" from payment_session session
     join order_payment_collection link on link.payment_collection_id = session.payment_collection_id
       and link.deleted_at is null
     join order_cart placed on placed.order_id = link.order_id and placed.deleted_at is null
     where session.id = $1 and session.status = 'pending_authorization' and session.deleted_at is null
       and session.metadata ? '${PLAN}'`,
    [sessionId],
  );

/** Records that a method may pay this cart's remainder later, before the method is asked. */
export async function expectRemainder(sql: Sql, sessionId: string, cartId: string): Promise<void> {
  await sql(
    "insert into giftcard_remainder (session_id, cart_id) values ($1, $2) on conflict (session_id) do nothing",
    [sessionId, cartId],
  );
}

/** Deletes remainders that nobody waits for any more. */
export async function forgetRemainders(sql: Sql): Promise<void> {
  await sql(
    `delete from giftcard_remainder remainder where created_at < now() - interval '1 day' and (select count(*)
       from payment_session where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null) = 0`,
    [],
  );
}

/** Counts remainders that another method has promised to pay, and hasn't paid yet. */
export const PENDING_REMAINDERS = `select count(*) from giftcard_remainder remainder where (select count(*)
  from payment_session where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null) > 0`;
