import type { Sql } from "@giftcard-pay/checkout/plugin";
import { readRows } from "../rows.js";

/** The stock of a cart's items. */
export interface CartStock {
  /** False if the cart doesn't exist, or is ordered or being ordered. */
  readonly isOpen: boolean;
  /** The number of different items whose stock is managed. */
  readonly items: number;
  readonly soldOut: SoldOutItem | null;
}

/** An item of which fewer are left than the cart holds. */
export interface SoldOutItem {
  readonly id: string;
  readonly title: string;
  readonly left: number;
}

/**
 * The units of a level that are reserved, without backorders. Medusa reads a level and writes the new one in two steps,
 * so processes without a common lock may lose an update. Only of a level that is nearly sold out are they counted.
 */
const COUNTED = `case when level.stocked_quantity - level.reserved_quantity < 100 then (
  select coalesce(sum(quantity), 0) from reservation_item where inventory_item_id = level.inventory_item_id
    and location_id = level.location_id and deleted_at is null and not allow_backorder) else 0 end`;

/**
 * Reads whether a cart can still be bought, in one statement. It counts the stock of all locations: a cart that passes
 * may still be refused by Medusa, which reserves at one. Reads cart, cart_line_item, order_cart, product_variant,
 * product_variant_inventory_item, inventory_level and reservation_item.
 */
export async function readStock(sql: Sql, cartId: string): Promise<CartStock> {
  const [row] = await readRows<CartStock>(
    sql,
    `with item as (
       select need.inventory_item_id as id, coalesce(min(line.product_title), min(line.title)) as title, stock.available,
         sum(line.quantity * need.required_quantity) filter (where not variant.allow_backorder) as needed
       from cart_line_item line
       join product_variant variant on variant.id = line.variant_id and variant.deleted_at is null and variant.manage_inventory
       join product_variant_inventory_item need on need.variant_id = variant.id and need.deleted_at is null
       cross join lateral (
         select coalesce(sum(greatest(0, stocked_quantity - greatest(reserved_quantity, ${COUNTED}))), 0) as available
         from inventory_level level where inventory_item_id = need.inventory_item_id and deleted_at is null) stock
       where line.cart_id = $1 and line.deleted_at is null
       group by need.inventory_item_id, stock.available
     )
     select (select count(*) from item)::integer as items,
       (select jsonb_build_object('id', id, 'title', title, 'left', floor(available)) from item
         where needed > available order by title limit 1) as "soldOut",
       (select count(*) from cart where id = $1 and completed_at is null and deleted_at is null) > 0
         and (select count(*) from order_cart where cart_id = $1 and deleted_at is null) = 0 as "isOpen"`,
    [cartId],
  );
  return row as CartStock;
}

/**
 * Tells whether a cart may be refused for a sold-out item: `no` if a payment of the cart holds or took money, which
 * Medusa releases if it refuses the cart; `later` if orders that are not paid yet have reserved the item, and may fail.
 * Reads reservation_item, order_item, order_payment_collection, cart_payment_collection, payment_collection and payment.
 */
export async function mayRefuse(sql: Sql, cartId: string, itemId: string): Promise<"yes" | "no" | "later"> {
  const [row] = await sql(
    `select (select count(*) from cart_payment_collection pays
         join payment on payment.payment_collection_id = pays.payment_collection_id
           and payment.canceled_at is null and payment.deleted_at is null
         where pays.cart_id = $1 and pays.deleted_at is null) > 0 as is_paid,
       (select count(*) from reservation_item reserved
         where inventory_item_id = $2 and line_item_id is not null and deleted_at is null
           and created_at > now() - interval '30 seconds'
           and (select count(*) from order_item sold
             join order_payment_collection paid on paid.order_id = sold.order_id and paid.deleted_at is null
             join payment_collection collection on collection.id = paid.payment_collection_id
               and collection.status not in ('not_paid', 'awaiting', 'partially_authorized', 'canceled', 'failed')
             where sold.item_id = reserved.line_item_id) = 0) > 0 as may_return`,
    [cartId, itemId],
  );
  if (row?.is_paid) return "no";
  return row?.may_return ? "later" : "yes";
}

/**
 * Tells whether more units are reserved than there are, of an item of the cart's order: processes without a common
 * lock may both have sold the last one. Reads order_cart, order_item, reservation_item and inventory_level.
 */
export async function isOversold(sql: Sql, cartId: string): Promise<boolean> {
  const rows = await sql(
    `select 1 from order_cart placed join order_item item on item.order_id = placed.order_id and item.deleted_at is null
     join reservation_item mine on mine.line_item_id = item.item_id and mine.deleted_at is null and not mine.allow_backorder
     join inventory_level level on level.inventory_item_id = mine.inventory_item_id
       and level.location_id = mine.location_id and level.deleted_at is null
     where placed.cart_id = $1 and placed.deleted_at is null and level.stocked_quantity < ${COUNTED} limit 1`,
    [cartId],
  );
  return rows.length > 0;
}
