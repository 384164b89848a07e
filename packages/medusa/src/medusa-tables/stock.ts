import type { Sql } from "@giftcard-pay/checkout/plugin";
import { PROVIDER_ID } from "../names.js";
import { hasRows, readRows } from "../rows.js";

/** An item of which fewer are left than the cart holds. */
export interface SoldOutItem {
  readonly title: string;
  /** How many the cart may hold at most. */
  readonly left: number;
  /**
   * Whether the cart can be refused: `paid` if a payment of the cart holds or took money, which Medusa releases if it
   * refuses the cart; `later` if carts that are being completed have reserved the item, and their payment may fail.
   */
  readonly refusal: "now" | "later" | "paid";
}

/**
 * The units of an item that are left at the locations of a sales channel; null if no location has the item. A location
 * with too many reservations counts as empty, except the location where a cart has reserved: it counts as negative, and
 * backorders don't count there. Medusa reads a level and writes the new one in two steps, so processes without a common
 * lock may lose an update. Only at a level that is nearly sold out are the reservations counted, without backorders.
 * @param reservedAt the location where the cart has reserved
 */
const left = (item: string, salesChannel: string, reservedAt = "null") => `(
  select sum(case when level.location_id = ${reservedAt} then level.stocked_quantity - coalesce(counted.units, 0)
    else greatest(0, level.stocked_quantity - greatest(level.reserved_quantity, counted.units)) end)
  from sales_channel_stock_location place join inventory_level level
    on level.location_id = place.stock_location_id and level.inventory_item_id = ${item} and level.deleted_at is null
  cross join lateral (
    select case when level.stocked_quantity - level.reserved_quantity < 100 then (
      select coalesce(sum(quantity), 0) from reservation_item where inventory_item_id = level.inventory_item_id
        and location_id = level.location_id and deleted_at is null and not allow_backorder) end as units) counted
  where place.sales_channel_id = ${salesChannel} and place.deleted_at is null)`;

/**
 * Finds an item of an open cart that is sold out. It counts the stock of all locations of the cart's sales channel: a cart
 * that passes may still be refused by Medusa, which reserves at one.
 */
export async function findSoldOut(sql: Sql, cartId: string): Promise<SoldOutItem | null> {
  const [row] = await readRows<Omit<SoldOutItem, "refusal"> & { id: string }>(
    sql,
    `with item as (
       select need.inventory_item_id as id, cart.sales_channel_id,
         coalesce(min(line.product_title), min(line.title)) as product, min(line.variant_title) as variant,
         max(need.required_quantity) as per_unit,
         sum(line.quantity * need.required_quantity) filter (where not variant.allow_backorder) as needed
       from cart join cart_line_item line on line.cart_id = cart.id and line.deleted_at is null
       join product_variant variant on variant.id = line.variant_id and variant.deleted_at is null and variant.manage_inventory
       join product_variant_inventory_item need on need.variant_id = variant.id and need.deleted_at is null
       where cart.id = $1 and cart.completed_at is null and cart.deleted_at is null
         and not exists (select from order_cart where cart_id = cart.id and deleted_at is null)
       group by need.inventory_item_id, cart.sales_channel_id
     ), short as (
       select item.*, stock.units from item
       cross join lateral (select ${left("item.id", "item.sales_channel_id")} as units) stock
       where item.needed > stock.units order by item.product, item.variant limit 1
     )
     select id, concat_ws(', ', product, nullif(variant, 'Default variant')) as title,
       floor(units / per_unit)::integer as left from short`,
    [cartId],
  );
  return row ? { ...row, refusal: await refusalOf(sql, cartId, row.id) } : null;
}

/**
 * Tells whether a cart can be refused. An order that holds a payment by another method, or waits for a promised one, isn't
 * being completed any more. It is a statement of its own, since few carts need it, and planning takes longest. It counts, since PostgreSQL would otherwise begin with all collections of such a status.
 */
async function refusalOf(sql: Sql, cartId: string, itemId: string): Promise<SoldOutItem["refusal"]> {
  const [row] = await readRows<{ refusal: SoldOutItem["refusal"] }>(
    sql,
    `select case
       when exists (select from cart_payment_collection pays
         join payment on payment.payment_collection_id = pays.payment_collection_id
           and payment.canceled_at is null and payment.deleted_at is null
         where pays.cart_id = $1 and pays.deleted_at is null) then 'paid'
       when exists (select from reservation_item reserved
         where reserved.inventory_item_id = $2 and reserved.deleted_at is null
           and reserved.created_at > now() - interval '30 seconds'
           and (select count(*) from order_item sold
             join order_payment_collection paid on paid.order_id = sold.order_id and paid.deleted_at is null
             join order_cart placed on placed.order_id = sold.order_id and placed.deleted_at is null
             join payment_collection collection on collection.id = paid.payment_collection_id and collection.amount > 0
               and collection.status in ('not_paid', 'awaiting', 'partially_authorized', 'canceled', 'failed')
             where sold.item_id = reserved.line_item_id and sold.deleted_at is null
               and (select count(*) from payment_session promise left join payment other on other.payment_session_id = promise.id
                   and other.provider_id <> $3 and other.deleted_at is null
                 where promise.payment_collection_id = collection.id and promise.deleted_at is null
                   and (promise.status = 'pending_authorization' or other.id is not null)) = 0) > 0) then 'later'
       else 'now' end as refusal`,
    [cartId, itemId, PROVIDER_ID],
  );
  return row?.refusal ?? "now";
}

/**
 * Tells whether more units are reserved than there are, of an item of the cart's order: processes without a common lock may
 * both have sold the last one.
 */
export const isOversold = (sql: Sql, cartId: string): Promise<boolean> =>
  hasRows(
    sql,
    `select from cart join order_cart placed on placed.cart_id = cart.id and placed.deleted_at is null
     join order_item item on item.order_id = placed.order_id and item.deleted_at is null
     join reservation_item mine on mine.line_item_id = item.item_id and mine.deleted_at is null and not mine.allow_backorder
     where cart.id = $1 and ${left("mine.inventory_item_id", "cart.sales_channel_id", "mine.location_id")} < 0 limit 1`,
    [cartId],
  );
