import { type Sql, sqlInterval, sqlList } from "@giftcard-pay/checkout/plugin";
import { chargingStates, onCartStates } from "@giftcard-pay/checkout/store";
import { PLAN } from "../names.js";
import { readEveryOrder, readRows } from "../rows.js";
import { ORDER_ORIGIN } from "./order-payment.js";
import { LATELY, type PlacedCart, type Scan } from "./scan.js";

/**
 * Why an order ends unpaid: nobody paid it; the payment that was to settle later hasn't in time (`lapsed`); or its method
 * says that it won't (`declined`). Only the first leaves a promise to pay later in force.
 */
export type UnpaidReason = "unpaid" | "remainder_lapsed" | "remainder_declined";

/** An order that may have to be canceled, because nobody paid it. */
export interface UnpaidOrder extends PlacedCart {
  readonly reason: UnpaidReason;
}

/** Whether an order is neither recorded as paid, nor exempted by a person. */
const isOpen = (orderId: string) =>
  `(select count(*) from giftcard_order where order_id = ${orderId} and paid_at is not null) = 0
   and (select count(*) from giftcard_unpaid_order where order_id = ${orderId} and exempted_at is not null) = 0`;

/**
 * Finds orders whose cart still has a gift card that nobody is charging. A successful completion leaves only
 * unneeded cards applied. A completion that crashed before it charged the cards, or was voided, leaves its cards applied. If
 * the order is paid, only a card that can still be removed matters. Reads order_cart and order, and the tenders and
 * charges.
 */
export const findCardsBesideOrders = ({ sql, leaseMs, only }: Scan): Promise<UnpaidOrder[]> =>
  readEveryOrder((after, limit) =>
    readRows(
      sql,
      `select distinct placed.order_id as "orderId", placed.cart_id as "cartId", 'unpaid' as reason from giftcard_tender tender
       cross join lateral (select order_id, cart_id from order_cart
         where cart_id = tender.cart_id and deleted_at is null offset 0) placed
       cross join lateral (select created_at from "order"
         where id = placed.order_id and canceled_at is null and deleted_at is null offset 0) o
       where tender.state in (${sqlList(onCartStates)}) and placed.order_id > $2
         and ($4::text is null or placed.order_id = $4)
         and o.created_at < now() - ${sqlInterval("$1")}
         and (tender.state = 'applied' or (${isOpen("placed.order_id")}))
         and (select count(*) from giftcard_charge charge where charge.cart_id = tender.cart_id
           and charge.state in (${sqlList(chargingStates)})) = 0
       order by placed.order_id limit $3`,
      [leaseMs, after, limit, only],
    ),
  );

/**
 * Finds orders whose remainder another method has promised to pay, and hasn't paid in time. Reads payment_session,
 * order_cart and order, and giftcard_remainder.
 */
export const findLapsedRemainders = ({ sql, pendingRemainderMs, only }: Scan): Promise<UnpaidOrder[]> =>
  readEveryOrder((after, limit) =>
    readRows(
      sql,
      `select distinct placed.order_id as "orderId", placed.cart_id as "cartId", 'remainder_lapsed' as reason
       from giftcard_remainder remainder
       cross join lateral (select 1 from payment_session
         where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null
           and created_at < now() - ${sqlInterval("$1")} offset 0) session
       cross join lateral (select order_id, cart_id from order_cart
         where cart_id = remainder.cart_id and deleted_at is null offset 0) placed
       cross join lateral (select 1 from "order"
         where id = placed.order_id and canceled_at is null and deleted_at is null offset 0) o
       where placed.order_id > $2 and ($4::text is null or placed.order_id = $4) and ${isOpen("placed.order_id")}
       order by placed.order_id limit $3`,
      [pendingRemainderMs, after, limit, only],
    ),
  );

/**
 * Finds orders that a person canceled while another method had promised to pay the remainder. Medusa cancels
 * payments, but leaves the promise in force. The promise must end, and what was paid by it since must be refunded.
 * Reads order_cart and order, and giftcard_remainder.
 */
export const findCanceledRemainders = ({ sql, only }: Scan): Promise<UnpaidOrder[]> =>
  readEveryOrder((after, limit) =>
    readRows(
      sql,
      `select distinct placed.order_id as "orderId", placed.cart_id as "cartId", 'unpaid' as reason
       from giftcard_remainder remainder
       cross join lateral (select order_id, cart_id from order_cart
         where cart_id = remainder.cart_id and deleted_at is null offset 0) placed
       cross join lateral (select 1 from "order"
         where id = placed.order_id and canceled_at is not null and deleted_at is null offset 0) o
       where placed.order_id > $1 and ($3::text is null or placed.order_id = $3) and ${isOpen("placed.order_id")}
         and (select count(*) from giftcard_unpaid_order where order_id = placed.order_id) = 0
       order by placed.order_id limit $2`,
      [after, limit, only],
    ),
  );

const DAY_MS = 24 * 60 * 60_000;
const ULID_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The beginning of the ids of orders that are placed at this time: Medusa's ids are ULIDs, and only they have an index by time. */
const orderIdAt = (ms: number): string =>
  `order_${Array.from({ length: 10 }, (_, i) => ULID_DIGITS[Math.floor(ms / 32 ** (9 - i)) % 32]).join("")}`;

/** The lines of a cart or of an order, for comparison. */
const linesOf = (rows: string) => `(select jsonb_agg(jsonb_build_array(variant_id, quantity, unit_price)
  order by variant_id, quantity, unit_price) from ${rows})`;

/**
 * Finds orders of the last day that Medusa didn't link to their cart, because it crashed or had no connection to its
 * database. If such an order has a payment collection, its cart is certain. Otherwise the cart is a guess: it has the
 * same customer and lines, had a card before the order was placed, and had no earlier order. Reads order, order_item,
 * order_line_item, order_cart, order_payment_collection, cart_payment_collection, cart and cart_line_item, and the
 * tenders.
 */
export const findUnlinkedOrders = ({ sql, leaseMs, only }: Scan): Promise<UnpaidOrder[]> =>
  readRows(
    sql,
    `with lately as materialized (
       select id, customer_id, email, region_id, sales_channel_id, currency_code, created_at from "order"
       where id > $2 and id < $3 and ($4::text is null or id = $4) and canceled_at is null and deleted_at is null
         and not is_draft_order and created_at between now() - interval '1 day' and now() - ${sqlInterval("$1")}
       order by id desc limit ${LATELY}
     )
     select distinct on (o.id) o.id as "orderId", origin.cart_id as "cartId", 'unpaid' as reason from lately o
     cross join lateral (
       select pays.cart_id, false as is_ordered from order_payment_collection ordered
       join cart_payment_collection pays on pays.payment_collection_id = ordered.payment_collection_id
         and pays.deleted_at is null
       where ordered.order_id = o.id and ordered.deleted_at is null
         and (select count(*) from giftcard_tender where cart_id = pays.cart_id) > 0
       union all
       select cart.id, placed.at is not null from cart
       cross join lateral (select min(other.created_at) as at from order_cart
         join "order" other on other.id = order_cart.order_id
         where order_cart.cart_id = cart.id and order_cart.deleted_at is null) placed
       where cart.customer_id = o.customer_id and cart.deleted_at is null
         and (select count(*) from order_payment_collection where order_id = o.id and deleted_at is null) = 0
         and (cart.email, cart.region_id, cart.sales_channel_id, cart.currency_code)
           is not distinct from (o.email, o.region_id, o.sales_channel_id, o.currency_code)
         and (select count(*) from giftcard_tender where cart_id = cart.id and state <> 'quoted'
           and created_at between o.created_at - interval '1 day' and o.created_at) > 0
         and (placed.at is null or placed.at > o.created_at)
         and ${linesOf("cart_line_item where cart_id = cart.id and deleted_at is null")} = ${linesOf(
           `(select line.variant_id, item.quantity, line.unit_price from order_item item
             join order_line_item line on line.id = item.item_id
             where item.order_id = o.id and item.version = 1 and item.deleted_at is null) line`,
         )}
     ) origin
     where (select count(*) from order_cart where order_id = o.id and deleted_at is null) = 0 and ${isOpen("o.id")}
     order by o.id, origin.is_ordered, origin.cart_id`,
    [leaseMs, orderIdAt(Date.now() - DAY_MS), orderIdAt(Date.now() + DAY_MS), only],
  );

export interface OrderLinks {
  readonly cartId: string;
  /** Whether the order is linked to the cart itself, and not just to its payment collection. */
  readonly isPlaced: boolean;
  /** The cart's payment collection, if no order has it. */
  readonly looseCollectionId: string | null;
}

/**
 * Reads the links of an order, or null if no link leads to its cart. Reads order, order_cart,
 * order_payment_collection and cart_payment_collection.
 */
export async function readOrderLinks(sql: Sql, orderId: string): Promise<OrderLinks | null> {
  const [row] = await readRows<OrderLinks>(
    sql,
    `select origin.cart_id as "cartId", origin.is_placed as "isPlaced", (select payment_collection_id
       from cart_payment_collection pays where cart_id = origin.cart_id and deleted_at is null
         and (select count(*) from order_payment_collection
           where payment_collection_id = pays.payment_collection_id and deleted_at is null) = 0 limit 1) as "looseCollectionId"
     from "order" o cross join lateral (${ORDER_ORIGIN}) origin where o.id = $1 and o.deleted_at is null`,
    [orderId],
  );
  return row ?? null;
}

/**
 * Reads the order that waits for this session to pay its remainder, or null. Reads payment_session,
 * order_payment_collection and order_cart.
 */
export async function orderOfPendingSession(sql: Sql, sessionId: string): Promise<PlacedCart | null> {
  const [row] = await readRows<PlacedCart>(
    sql,
    `select placed.order_id as "orderId", placed.cart_id as "cartId" from payment_session session
     join order_payment_collection link on link.payment_collection_id = session.payment_collection_id
       and link.deleted_at is null
     join order_cart placed on placed.order_id = link.order_id and placed.deleted_at is null
     where session.id = $1 and session.status = 'pending_authorization' and session.deleted_at is null
       and session.metadata ? '${PLAN}'`,
    [sessionId],
  );
  return row ?? null;
}

/** Records that a method may pay this cart's remainder later, before the method is asked. */
export async function expectRemainder(sql: Sql, sessionId: string, cartId: string): Promise<void> {
  await sql(
    "insert into giftcard_remainder (session_id, cart_id) values ($1, $2) on conflict (session_id) do nothing",
    [sessionId, cartId],
  );
}

/** Deletes remainders that nobody waits for any more. Reads payment_session; writes giftcard_remainder. */
export async function forgetRemainders(sql: Sql): Promise<void> {
  await sql(
    `delete from giftcard_remainder remainder where created_at < now() - interval '1 day' and (select count(*)
       from payment_session where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null) = 0`,
    [],
  );
}

/**
 * Counts remainders that another method has promised to pay, and hasn't paid yet. Reads payment_session, and
 * giftcard_remainder.
 */
export const PENDING_REMAINDERS = `select count(*) from giftcard_remainder remainder where (select count(*)
  from payment_session where id = remainder.session_id and status = 'pending_authorization' and deleted_at is null) > 0`;
