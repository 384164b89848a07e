import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { BigNumberInput } from "@medusajs/framework/types";
import { centsSql } from "../amount.js";
import { PLAN, PROVIDER_ID, RECOVERY_LOCK } from "../names.js";
import { hasRows, readRow, readRows, readTexts } from "../rows.js";
import { PAYMENT_VIEW, paymentsOf, type SessionPayment } from "./payments.js";

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
interface PlacedOrder {
  readonly order_id: string;
  readonly currency_code: string;
  readonly raw_total: BigNumberInput | null;
}

/** Statuses of a session that is authorized, or can still be. */
export const processable = ["pending", "requires_more", "authorized", "captured", "pending_authorization"];

/**
 * Reads the cart's payment sessions, oldest first, in one statement. Medusa's query would ask four modules one after the
 * other while a completion waits.
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
 * Tells whether a card was ever on the cart. If not, the plugin owns no session, payment or order of it. Reads only the
 * cart's tenders.
 */
export const hadCards = (sql: Sql, cartId: string): Promise<boolean> =>
  hasRows(sql, "select 1 from giftcard_tender where cart_id = $1 limit 1", [cartId]);

/**
 * Tells whether a cart with cards can be completed as it is: nothing is left of an earlier completion, and its only session
 * is that of a remainder, which was never refunded. Code that moves money reads again.
 * @param shown the plan that the page shows, if it tells
 */
export const isReady = (sql: Sql, cartId: string, shown: string | null): Promise<boolean> =>
  hasRows(
    sql,
    `select 1 from cart where id = $1 and completed_at is null and deleted_at is null
         and not exists (select 1 from giftcard_tender where cart_id = $1 and state = 'charging')
         and not exists (select 1 from order_cart where cart_id = $1 and deleted_at is null)
         and (select count(*) = 1 and bool_and(
             s.provider_id <> $2 and s.status = any($3::text[]) and s.metadata ? '${PLAN}' and s.amount > 0
             and ($4::text is null or s.metadata ->> '${PLAN}' = $4)
             and p.canceled_at is null and not exists (select 1 from refund where payment_id = p.id and deleted_at is null))
           from cart_payment_collection l
           join payment_session s on s.payment_collection_id = l.payment_collection_id and s.deleted_at is null
           left join payment p on p.payment_session_id = s.id and p.deleted_at is null
           where l.cart_id = $1 and l.deleted_at is null)`,
    [cartId, PROVIDER_ID, processable, shown],
  );

/**
 * Reads the cart's orders, with their totals when they were placed: one, or several while processes complete the cart at the
 * same time.
 */
export const readPlacedOrders = (sql: Sql, cartId: string): Promise<PlacedOrder[]> =>
  readRows(
    sql,
    `select l.order_id, o.currency_code, s.totals -> 'raw_current_order_total' as raw_total
     from order_cart l left join "order" o on o.id = l.order_id
     left join order_summary s on s.order_id = o.id and s.version = o.version and s.deleted_at is null
     where l.cart_id = $1 and l.deleted_at is null`,
    [cartId],
  );

/**
 * Reads the ids of the cart's orders: one, or several while processes complete the cart at the same time. Reads
 * order_cart.
 */
export const ordersOfCart = (sql: Sql, cartId: string): Promise<string[]> =>
  readTexts(sql, "select order_id from order_cart where cart_id = $1 and deleted_at is null", [cartId]);

/** The cart of the order `id`; null if it has none, or no card was ever on it. */
const cartWithCards = (
  id: string,
) => `(select cart_id from order_cart placed where order_id = ${id} and deleted_at is null
  and (select count(*) from giftcard_tender where cart_id = placed.cart_id) > 0 limit 1)`;

/** Reads the cart of an order; null if it has none, or no card was ever on it. */
export const cartOfOrder = async (sql: Sql, orderId: string): Promise<string | null> =>
  (await readRow<{ id: string | null }>(sql, `select ${cartWithCards("$1")} as id`, [orderId]))?.id ?? null;

/** Reads a placed order's cart, as `cartOfOrder`, and its customer, also a guest; null if there is no such order. */
export const findOrder = (
  sql: Sql,
  orderId: string,
): Promise<{ readonly cartId: string | null; readonly customerId: string | null } | null> =>
  readRow(
    sql,
    `select ${cartWithCards("o.id")} as "cartId", customer_id as "customerId" from "order" o
     where id = $1 and not is_draft_order and deleted_at is null`,
    [orderId],
  );

/** The order of a payment. */
export interface PaymentOrder {
  readonly orderId: string;
  /** As `cartOfOrder`. */
  readonly cartId: string | null;
  /** The number of refunds of all its payments. */
  readonly refundCount: number;
}

/** The number of refunds of an order's payments. */
const refundCount = (orderId: string) => `(select count(*) from ${paymentsOf(orderId)}
  join refund on refund.payment_id = p.id and refund.deleted_at is null)::integer`;

/** Reads the order of a payment; null if no order has it. */
export const orderOfPayment = (sql: Sql, paymentId: string): Promise<PaymentOrder | null> =>
  readRow(
    sql,
    `select paid.order_id as "orderId", ${cartWithCards("paid.order_id")} as "cartId", ${refundCount("paid.order_id")} as "refundCount"
     from payment own join order_payment_collection paid
       on paid.payment_collection_id = own.payment_collection_id and paid.deleted_at is null
     where own.id = $1 and own.deleted_at is null`,
    [paymentId],
  );

/**
 * Tells whether a refund by hand concerns the plugin: a card pays for the order, the plugin has refunded it before, a change
 * of it is open, or another refund was made since.
 */
export const concernsRefund = (sql: Sql, { orderId, refundCount: before }: PaymentOrder): Promise<boolean> =>
  hasRows(
    sql,
    `select where exists (select from giftcard_order where order_id = $1 and lines is not null)
       or (select count(*) from ${paymentsOf("$1")} where p.provider_id = $2) > 0
       or exists (select from order_change where order_id = $1 and status in ('pending', 'requested') and deleted_at is null)
       or ${refundCount("$1")} <> $3`,
    [orderId, PROVIDER_ID, before],
  );

export const providersOfCart = (sql: Sql, cartId: string): Promise<string[]> =>
  readTexts(
    sql,
    `select p.id from cart c
     join region_payment_provider l on l.region_id = c.region_id and l.deleted_at is null
     join payment_provider p on p.id = l.payment_provider_id and p.deleted_at is null
     where c.id = $1 and c.deleted_at is null`,
    [cartId],
  );

/**
 * Whether the line `i` is a gift card: either it was one when it was added to the cart, or its product is one now. Only
 * the shop can write these.
 */
const IS_GIFTCARD = `(i.is_giftcard or (select count(*) from product p where p.id = i.product_id
  and (p.is_giftcard or p.metadata ->> 'giftcard' = 'true')) > 0)`;

export const giftcardItemsOfCart = (sql: Sql, cartId: string): Promise<string[]> =>
  readTexts(sql, `select i.id from cart_line_item i where i.cart_id = $1 and i.deleted_at is null and ${IS_GIFTCARD}`, [
    cartId,
  ]);

export const giftcardItemsOfOrder = (sql: Sql, cartId: string): Promise<string[]> =>
  readTexts(
    sql,
    `select i.id from order_cart l join "order" o on o.id = l.order_id
     join order_item sold on sold.order_id = o.id and sold.version = o.version and sold.deleted_at is null
     join order_line_item i on i.id = sold.item_id
     where l.cart_id = $1 and l.deleted_at is null and ${IS_GIFTCARD}`,
    [cartId],
  );

/**
 * Deletes expired locks of Medusa's, of carts with gift cards and of recovery. Medusa's locking module for PostgreSQL
 * keeps the lock of a process that died forever, and nobody could complete or recover its cart. The other modules
 * expire locks themselves. Writes locking, if that module is configured.
 */
export async function endExpiredLocks(sql: Sql): Promise<void> {
  const [found] = await sql("select to_regclass('locking') is not null as is_there", []);
  if (found?.is_there !== true) return;
  await sql(
    `delete from locking where expiration < now()
       and (id = $1 or (select count(*) from giftcard_tender where cart_id = locking.id) > 0)`,
    [RECOVERY_LOCK],
  );
}
