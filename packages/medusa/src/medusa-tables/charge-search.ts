import type { Sql } from "@giftcard-pay/checkout/plugin";
import { readTexts } from "../rows.js";

/** The most orders, or carts, that a search looks through. */
const LIMIT = 500;

/** Finds the orders with this display number. There are several if the shop has deleted or imported some. */
export const findOrdersByNumber = (sql: Sql, number: number): Promise<string[]> =>
  readTexts(sql, `select id from "order" where display_id = $1 and deleted_at is null limit ${LIMIT}`, [number]);

/**
 * Finds the newest carts with a charge of all customers and guests with an e-mail: their own, and those of orders that are
 * now theirs.
 */
export const findChargedCarts = (sql: Sql, email: string): Promise<string[]> =>
  readTexts(
    sql,
    `with buyer as materialized (select id from customer where email in ($1, lower($1))),
     own as (
       select id from cart where customer_id in (select id from buyer) and deleted_at is null
       union select link.cart_id from "order" o join order_cart link on link.order_id = o.id and link.deleted_at is null
         where o.customer_id in (select id from buyer) and o.deleted_at is null
     )
     select own.id from own
     cross join lateral (select max(created_at) as at from giftcard_charge where cart_id = own.id) charged
     where charged.at is not null order by charged.at desc, own.id limit ${LIMIT}`,
    [email],
  );

/**
 * Reads the titles of order lines, such as `Gala, Row 5`, and the names of shipping methods, by their ids. Reads
 * order_line_item and order_shipping_method.
 */
export async function readLineTitles(sql: Sql, lineIds: readonly string[]): Promise<Record<string, string>> {
  if (lineIds.length === 0) return {};
  const rows = await sql(
    `select id, concat_ws(', ', coalesce(product_title, title), nullif(variant_title, 'Default variant')) as title
     from order_line_item where id = any($1::text[])
     union all select id, name from order_shipping_method where id = any($1::text[])`,
    [[...new Set(lineIds)]],
  );
  return Object.fromEntries(rows.map((row) => [String(row.id), String(row.title)]));
}
