import type { Sql } from "@giftcard-pay/checkout/plugin";
import { readRows } from "../rows.js";

/** An item of a cart of which fewer are left than the cart holds. */
export interface SoldOutItem {
  readonly title: string;
  /** 0 or more. */
  readonly left: number;
}

/** The stock of an open cart's items. */
export interface CartStock {
  /** The number of different items whose stock is managed; 0 if the cart is already ordered. */
  readonly items: number;
  readonly soldOut: SoldOutItem | null;
}

/**
 * Reads whether a cart can still be bought, in one statement. It counts the stock of all locations: a cart that passes
 * may still be refused by Medusa, which reserves at one. Reads cart, cart_line_item, order_cart, product_variant,
 * product_variant_inventory_item and inventory_level.
 */
export async function readStock(sql: Sql, cartId: string): Promise<CartStock> {
  const [row] = await readRows<CartStock>(
    sql,
    `with item as (
       select coalesce(min(line.product_title), min(line.title)) as title, stock.available,
         sum(line.quantity * need.required_quantity) filter (where not variant.allow_backorder) as needed
       from cart join cart_line_item line on line.cart_id = cart.id and line.deleted_at is null
       join product_variant variant on variant.id = line.variant_id and variant.deleted_at is null and variant.manage_inventory
       join product_variant_inventory_item need on need.variant_id = variant.id and need.deleted_at is null
       cross join lateral (select coalesce(sum(stocked_quantity - reserved_quantity), 0) as available
         from inventory_level where inventory_item_id = need.inventory_item_id and deleted_at is null) stock
       where cart.id = $1 and cart.completed_at is null
         and (select count(*) from order_cart where cart_id = cart.id and deleted_at is null) = 0
       group by need.inventory_item_id, stock.available
     )
     select count(*)::integer as items, (select jsonb_build_object('title', title, 'left', floor(greatest(0, available)))
       from item where needed > available limit 1) as "soldOut" from item`,
    [cartId],
  );
  return row ?? { items: 0, soldOut: null };
}

/**
 * Tells whether more units are reserved than there are, of an item of the cart's order. Medusa reads the stock and
 * writes the new one in two steps, so processes without a common lock may both sell the last unit. Reads order_cart,
 * order_item, reservation_item and inventory_level.
 */
export async function isOversold(sql: Sql, cartId: string): Promise<boolean> {
  const rows = await sql(
    `select 1 from order_cart placed join order_item item on item.order_id = placed.order_id and item.deleted_at is null
     join reservation_item mine on mine.line_item_id = item.item_id and mine.deleted_at is null and not mine.allow_backorder
     join inventory_level level on level.inventory_item_id = mine.inventory_item_id
       and level.location_id = mine.location_id and level.deleted_at is null
     where placed.cart_id = $1 and placed.deleted_at is null and level.stocked_quantity < (select sum(quantity)
       from reservation_item where inventory_item_id = mine.inventory_item_id and location_id = mine.location_id
         and deleted_at is null) limit 1`,
    [cartId],
  );
  return rows.length > 0;
}
