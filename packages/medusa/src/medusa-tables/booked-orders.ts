import type { Sql } from "@giftcard-pay/checkout/plugin";
import { centsSql } from "../amount.js";
import { PROVIDER_ID } from "../names.js";
import { readRows } from "../rows.js";
import { PLACED_VERSION } from "./order-refund.js";
import { IS_CANCEL_REFUND } from "./payments.js";

/** From this moment on, and before that one. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

/** Money that a payment took or returned, in whole cents. */
interface Moved {
  /** ISO 8601. */
  readonly at: string;
  readonly cents: number;
}

/** A payment with the dates on which it moved money. */
export interface DatedPayment {
  readonly providerId: string;
  readonly isCanceled: boolean;
  readonly amountCents: number;
  /** ISO 8601. */
  readonly authorizedAt: string;
  readonly captures: readonly Moved[];
  /** `isCancel`: Medusa refunded it because the order was canceled. */
  readonly refunds: readonly (Moved & { readonly id: string; readonly isCancel: boolean })[];
}

/** The dates of an order and of its payments. Times are ISO 8601. */
export interface OrderDates {
  readonly orderId: string;
  readonly placedAt: string;
  readonly canceledAt: string | null;
  readonly payments: readonly DatedPayment[];
}

/** Money of another method than a card, of a payment without an order. */
export interface OrderlessMove {
  readonly providerId: string;
  readonly at: Date;
  /** Below 0: refunded. */
  readonly cents: number;
}

const isSale = `o.deleted_at is null and not o.is_draft_order and o.currency_code = 'eur'`;
const within = (time: string) => `${time} >= $1 and ${time} < $2`;
const moneyOf = (row: string) => `${centsSql(`(${row}.raw_amount ->> 'value')::numeric`)}::integer`;

/** The cart of the order `o`, and the version that its customer paid. */
const PLACED = `left join lateral (select cart_id from order_cart where order_id = o.id and deleted_at is null limit 1) cart on true
  cross join lateral (select ${PLACED_VERSION} as version) start`;

/** When the order `o` was placed. An order that began as a draft is placed with its last change before it was paid. */
const PLACED_AT = `case when cart.cart_id is not null then o.created_at else greatest(o.created_at,
  (select min(created_at) from order_item where order_id = o.id and version = start.version and deleted_at is null)) end`;

const movedPayment = (table: string) =>
  `select link.order_id from ${table} moved join payment p on p.id = moved.payment_id
   join order_payment_collection link on link.payment_collection_id = p.payment_collection_id and link.deleted_at is null
   where moved.deleted_at is null and ${within("moved.created_at")}`;

/**
 * Whether an order `o` is booked in a period, if it did anything in it. The money of an order that was placed later counts
 * as money without an order.
 */
const isBooked = `${isSale} and o.created_at < $2`;

/** The orders in euro of which something was sold, changed, canceled, paid or refunded in a period. */
const BOOKED = `select o.id, o.created_at from "order" o where ${isBooked} and o.id in (
  select id from "order" where ${within("created_at")}
  union select id from "order" where ${within("canceled_at")}
  union select order_id from order_change where ${within("confirmed_at")} and deleted_at is null
  union ${movedPayment("capture")} union ${movedPayment("refund")}
  union select order_id from giftcard_charge where ${within("coalesce(devalued_at, sent_at, created_at)")}
  union select order_id from giftcard_charge where ${within("reversed_at")})`;

/** Counts the orders of a period. Reads the tables of `readBookedOrders`. */
export async function countBookedOrders(sql: Sql, { from, to }: Period): Promise<number> {
  const [row] = await sql(`select count(*) from (${BOOKED}) booked`, [from, to]);
  return Number(row?.count);
}

/** An order, and its place in the list. */
export interface BookedOrder {
  readonly id: string;
  /** When the order was created, as PostgreSQL writes it, to the microsecond. */
  readonly createdAt: string;
}

/**
 * Reads some of the orders in euro of which something was sold, changed, canceled, paid or refunded in a period, oldest first.
 * Reads order, order_change, payment, capture, refund and order_payment_collection, and the charges.
 * @param after the last order of the page before
 */
export const readBookedOrders = (
  sql: Sql,
  { from, to }: Period,
  { after, limit }: { readonly after: BookedOrder | null; readonly limit: number },
): Promise<BookedOrder[]> =>
  readRows(
    sql,
    `select id, created_at::text as "createdAt" from (${BOOKED}) booked
     where $3::text is null or (created_at, id) > ($4::timestamptz, $3) order by created_at, id limit $5`,
    [from, to, after?.id ?? null, after?.createdAt ?? null, limit],
  );

/** Returns those of these orders that can be booked in a period. Reads order. */
export async function readBookable(sql: Sql, { to }: Period, orderIds: readonly string[]): Promise<Set<string>> {
  if (orderIds.length === 0) return new Set();
  const rows = await sql(`select o.id from "order" o where o.id = any($1::text[]) and ${isBooked}`, [orderIds, to]);
  return new Set(rows.map(({ id }) => String(id)));
}

/**
 * Reads the dates of orders, in the order of their ids. Reads order, order_cart, order_change, order_item, order_payment_collection,
 * payment, capture, refund and order_transaction.
 */
export const readOrderDates = (sql: Sql, orderIds: readonly string[]): Promise<OrderDates[]> =>
  readRows(
    sql,
    `select o.id as "orderId", to_json(${PLACED_AT}) #>> '{}' as "placedAt", to_json(o.canceled_at) #>> '{}' as "canceledAt",
       coalesce((select json_agg(json_build_object('providerId', p.provider_id, 'isCanceled', p.canceled_at is not null,
           'amountCents', ${moneyOf("p")}, 'authorizedAt', p.created_at,
           'captures', (select coalesce(json_agg(json_build_object('at', c.created_at, 'cents', ${moneyOf("c")})
             order by c.created_at, c.id), '[]') from capture c where c.payment_id = p.id and c.deleted_at is null),
           'refunds', (select coalesce(json_agg(json_build_object('id', r.id, 'at', r.created_at, 'cents', ${moneyOf("r")},
             'isCancel', o.canceled_at is not null and ${IS_CANCEL_REFUND}) order by r.created_at, r.id), '[]')
             from refund r where r.payment_id = p.id and r.deleted_at is null)) order by p.created_at, p.id)
         from order_payment_collection l join payment p on p.payment_collection_id = l.payment_collection_id and p.deleted_at is null
         where l.order_id = o.id and l.deleted_at is null), '[]') as payments
     from "order" o ${PLACED}
     where o.id = any($1::text[]) order by o.id`,
    [orderIds],
  );

/** The methods and VAT rates of orders, for the columns of an export. */
export interface BookedColumns {
  /** The providers other than the gift card, in order. */
  readonly providers: readonly string[];
  /** In percent, the highest first. */
  readonly rates: readonly string[];
}

/**
 * Reads the methods and rates of a period's orders. Reads order_item, order_shipping, their tax lines, and the tables of
 * `readBookedOrders`.
 */
export async function readBookedColumns(sql: Sql, { from, to }: Period): Promise<BookedColumns> {
  const rates = await readRows<{ rate: string }>(
    sql,
    `with booked as materialized (${BOOKED}),
       item as (select distinct item_id as id from order_item where order_id in (select id from booked) and deleted_at is null),
       method as (select distinct shipping_method_id as id from order_shipping
         where order_id in (select id from booked) and deleted_at is null),
       percent as (
         select coalesce((select sum(rate) from order_line_item_tax_line where item_id = item.id and deleted_at is null), 0) as value from item
         union select coalesce((select sum(rate) from order_shipping_method_tax_line
           where shipping_method_id = method.id and deleted_at is null), 0) from method
         union select 0 from booked
           where not exists (select from order_item where order_id = booked.id and deleted_at is null))
     select trim_scale(round(value::numeric, 4))::text as rate from percent
     group by round(value::numeric, 4) order by round(value::numeric, 4) desc`,
    [from, to],
  );
  const providers = await readRows<{ id: string }>(
    sql,
    `select distinct p.provider_id as id from order_payment_collection link
     join payment p on p.payment_collection_id = link.payment_collection_id and p.deleted_at is null
     where link.order_id in (select id from (${BOOKED}) booked) and link.deleted_at is null and p.provider_id <> $3
     order by p.provider_id`,
    [from, to, PROVIDER_ID],
  );
  return { rates: rates.map(({ rate }) => rate), providers: providers.map(({ id }) => id) };
}

/** The captures and refunds `moved` of other methods than a card, refunds below 0. */
const MOVED = `(select payment_id, created_at as at, ${moneyOf("capture")} as cents from capture where deleted_at is null and ${within("created_at")}
  union all select payment_id, created_at, -${moneyOf("refund")} from refund where deleted_at is null and ${within("created_at")}) moved
  join payment p on p.id = moved.payment_id and p.provider_id <> $3 and p.currency_code = 'eur'`;

/**
 * Reads what other methods than a card moved for payments without an order, such as one that was refunded because its
 * order could not be placed. Reads payment, capture, refund, order_payment_collection and order.
 */
export const readOrderlessMoves = (sql: Sql, { from, to }: Period): Promise<OrderlessMove[]> =>
  readRows(
    sql,
    `select p.provider_id as "providerId", moved.at, moved.cents from ${MOVED}
     where not exists (select from order_payment_collection link join "order" o on o.id = link.order_id and ${isBooked}
       where link.payment_collection_id = p.payment_collection_id and link.deleted_at is null)
     order by moved.at, p.id`,
    [from, to, PROVIDER_ID],
  );

/** Medusa's own totals of a period, in whole cents. */
export interface MedusaTotals {
  /** The totals of the orders that were placed in it. */
  readonly salesCents: number;
  /** What methods other than the gift card captured and refunded, by provider. */
  readonly methods: readonly {
    readonly providerId: string;
    readonly paidCents: number;
    readonly repaidCents: number;
  }[];
  /** The number of orders in other currencies that were placed in it. */
  readonly otherCurrencies: number;
}

/**
 * Adds up Medusa's own figures. Reads order, order_cart, order_change, order_item, order_summary, payment, capture, refund and
 * order_payment_collection.
 */
export async function readMedusaTotals(sql: Sql, { from, to }: Period): Promise<MedusaTotals> {
  const [sales] = await sql(
    `select coalesce(sum(${centsSql("(placed.totals -> 'raw_current_order_total' ->> 'value')::numeric")}), 0)::bigint as cents
     from "order" o ${PLACED}
     join order_summary placed on placed.order_id = o.id and placed.version = start.version and placed.deleted_at is null
     where ${isSale} and o.created_at < $2 and ${within(`(${PLACED_AT})`)}
       and (cart.cart_id is null or ${within("o.created_at")})`,
    [from, to],
  );
  const methods = await sql(
    `select p.provider_id, coalesce(sum(moved.cents) filter (where moved.cents > 0), 0)::bigint as paid,
       coalesce(-sum(moved.cents) filter (where moved.cents < 0), 0)::bigint as repaid
     from ${MOVED} group by p.provider_id order by p.provider_id`,
    [from, to, PROVIDER_ID],
  );
  const [others] = await sql(
    `select count(*) from "order" where ${within("created_at")} and currency_code <> 'eur' and not is_draft_order
       and deleted_at is null`,
    [from, to],
  );
  return {
    salesCents: Number(sales?.cents),
    methods: methods.map((row) => ({
      providerId: String(row.provider_id),
      paidCents: Number(row.paid),
      repaidCents: Number(row.repaid),
    })),
    otherCurrencies: Number(others?.count),
  };
}
