import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { BigNumberInput } from "@medusajs/framework/types";
import { centsSql } from "../amount.js";
import { PLAN, PROVIDER_ID } from "../names.js";
import { readRows } from "../rows.js";
import { PAYMENT_VIEW, type SessionPayment } from "./payments.js";

/** A payment session of the cart's collection. */
export interface SessionView extends SessionPayment {
  readonly provider_id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly metadata: Record<string, unknown> | null;
}

/** The sessions of a cart's payment collection; empty without a collection. */
export interface CartSessions {
  readonly collectionId: string | null;
  readonly sessions: readonly SessionView[];
}

/** An order of a cart, with its total when it was placed. */
export interface PlacedOrder {
  readonly order_id: string;
  readonly currency_code: string;
  readonly raw_total: BigNumberInput | null;
}

/** How gift cards affect a cart, for a quick decision. Code that moves money reads again. */
export interface CartStanding {
  /** False if no card was ever applied. The plugin then owns no session, payment or order of the cart. */
  readonly hadCards: boolean;
  /** Whether nothing is left of an earlier completion, and the only session is that of a remainder. */
  readonly isReady: boolean;
}

/** Statuses of a session that is authorized, or can still be. */
export const processable = ["pending", "requires_more", "authorized", "captured", "pending_authorization"];

/**
 * Reads the cart's payment sessions, oldest first, in one statement. Medusa's query would ask four modules one after
 * the other while a completion waits. Reads cart_payment_collection, payment_collection, payment_session, payment,
 * capture and refund.
 */
export async function readCartSessions(sql: Sql, cartId: string): Promise<CartSessions> {
  const rows = await readRows<SessionView & { collectionId: string; id: string | null }>(
    sql,
    `select c.id as "collectionId", s.id, s.provider_id, s.status, s.metadata,
       ${centsSql("(s.raw_amount ->> 'value')::numeric")}::integer as "amountCents", ${PAYMENT_VIEW} as payment
     from cart_payment_collection l
     join payment_collection c on c.id = l.payment_collection_id and c.deleted_at is null
     left join payment_session s on s.payment_collection_id = c.id and s.deleted_at is null
     left join payment p on p.payment_session_id = s.id and p.deleted_at is null
     where l.cart_id = $1 and l.deleted_at is null order by s.created_at, s.id`,
    [cartId],
  );
  const sessions = rows.flatMap(({ collectionId: _, ...session }) => (session.id === null ? [] : session));
  return { collectionId: rows[0]?.collectionId ?? null, sessions };
}

/**
 * Reads how gift cards affect a cart, in one statement. Reads cart, order_cart, cart_payment_collection,
 * payment_session, payment, capture and refund, and the cart's tenders.
 */
export async function readStanding(sql: Sql, cartId: string): Promise<CartStanding> {
  const [row] = await sql(
    `with tender as (select state from giftcard_tender where cart_id = $1),
     session as (
       select s.provider_id, s.status, s.metadata ? '${PLAN}' and (s.raw_amount ->> 'value')::numeric > 0 as is_remainder, ${PAYMENT_VIEW} as payment
       from cart_payment_collection l
       join payment_session s on s.payment_collection_id = l.payment_collection_id and s.deleted_at is null
       left join payment p on p.payment_session_id = s.id and p.deleted_at is null
       where l.cart_id = $1 and l.deleted_at is null
     )
     select exists (select 1 from tender) as had_cards,
       not exists (select 1 from tender where state = 'charging')
         and exists (select 1 from cart where id = $1 and completed_at is null and deleted_at is null)
         and not exists (select 1 from order_cart where cart_id = $1 and deleted_at is null)
         and (select count(*) = 1 and bool_and(
           provider_id <> $2 and status = any($3::text[]) and is_remainder and (payment is null or payment ->> 'isOver' = 'false')
         ) from session) as is_ready`,
    [cartId, PROVIDER_ID, processable],
  );
  return { hadCards: row?.had_cards === true, isReady: row?.is_ready === true };
}

/**
 * Reads the cart's orders, with their totals when they were placed: one, or several while processes complete the cart
 * at the same time. Reads order_cart, order and order_summary.
 */
export async function readPlacedOrders(sql: Sql, cartId: string): Promise<PlacedOrder[]> {
  return readRows(
    sql,
    `select l.order_id, o.currency_code, s.totals -> 'raw_current_order_total' as raw_total
     from order_cart l left join "order" o on o.id = l.order_id
     left join order_summary s on s.order_id = o.id and s.version = o.version and s.deleted_at is null
     where l.cart_id = $1 and l.deleted_at is null`,
    [cartId],
  );
}

/**
 * Reads the ids of the cart's orders: one, or several while processes complete the cart at the same time. Reads
 * order_cart.
 */
export async function ordersOfCart(sql: Sql, cartId: string): Promise<string[]> {
  const statement = "select order_id from order_cart where cart_id = $1 and deleted_at is null";
  return (await sql(statement, [cartId])).map((row) => String(row.order_id));
}

/**
 * Reads the cart of an order; null if it has none, or no card was ever on it. Reads order_cart, and the cart's
 * tenders.
 */
export async function cartOfOrder(sql: Sql, orderId: string): Promise<string | null> {
  const [row] = await sql(
    `select cart_id from order_cart placed where order_id = $1 and deleted_at is null
       and (select count(*) from giftcard_tender where cart_id = placed.cart_id) > 0`,
    [orderId],
  );
  return row ? String(row.cart_id) : null;
}

/** Reads whose lease a change of an order needs: that of its cart, or its own if no card was ever on the cart. */
export const turnOfOrder = async (sql: Sql, orderId: string): Promise<string> =>
  (await cartOfOrder(sql, orderId)) ?? orderId;

/**
 * Reads the order of a payment, and the number of refunds of all its payments; null if no order has it. Reads
 * payment, order_payment_collection and refund.
 */
export async function orderOfPayment(
  sql: Sql,
  paymentId: string,
): Promise<{ orderId: string; refundCount: number } | null> {
  const [row] = await sql(
    `select l.order_id, (select count(*) from order_payment_collection every
         join payment other on other.payment_collection_id = every.payment_collection_id
         join refund on refund.payment_id = other.id and refund.deleted_at is null
         where every.order_id = l.order_id and every.deleted_at is null)::integer as refunds
     from payment p join order_payment_collection l
       on l.payment_collection_id = p.payment_collection_id and l.deleted_at is null
     where p.id = $1 and p.deleted_at is null`,
    [paymentId],
  );
  return row ? { orderId: String(row.order_id), refundCount: Number(row.refunds) } : null;
}

/** Reads the cart of a payment collection; null if it has none. Reads cart_payment_collection. */
export async function cartOfCollection(sql: Sql, collectionId: string): Promise<string | null> {
  const [row] = await sql(
    "select cart_id from cart_payment_collection where payment_collection_id = $1 and deleted_at is null",
    [collectionId],
  );
  return row ? String(row.cart_id) : null;
}
