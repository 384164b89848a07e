import type { Sql } from "@giftcard-pay/checkout/plugin";
import { readRows } from "../rows.js";

/** The subject of a bulk refund: a variant, all variants of a product, or whole orders. */
export type Sold =
  | { readonly variantId: string }
  | { readonly productId: string }
  | { readonly orderIds: readonly string[] };

export interface SoldOrder {
  readonly orderId: string;
  readonly orderName: string;
}

/**
 * Finds the orders that contain it, oldest first, without canceled ones. Reads order, order_item and order_line_item.
 */
export async function findSold(sql: Sql, sold: Sold): Promise<SoldOrder[]> {
  const hasLine = (column: string) =>
    `exists (select from order_item item join order_line_item line on line.id = item.item_id and line.deleted_at is null
       where item.order_id = o.id and item.version = o.version and item.deleted_at is null and ${column} = $1)`;
  const [matches, value] =
    "variantId" in sold
      ? [hasLine("line.variant_id"), sold.variantId]
      : "productId" in sold
        ? [hasLine("line.product_id"), sold.productId]
        : ["o.id = any($1::text[])", [...sold.orderIds]];
  return readRows(
    sql,
    `select o.id as "orderId", '#' || o.display_id as "orderName" from "order" o
     where ${matches} and o.deleted_at is null and o.canceled_at is null and not o.is_draft_order order by o.display_id`,
    [value],
  );
}

/**
 * Reads its display name: the product's title, with the variant's; null if there is no such product or variant. Reads
 * product and product_variant.
 */
export async function nameOfSold(sql: Sql, sold: Sold): Promise<string | null> {
  if ("orderIds" in sold) {
    const { size } = new Set(sold.orderIds);
    return size === 1 ? "1 order" : `${size} orders`;
  }
  const [row] =
    "variantId" in sold
      ? await sql(
          `select p.title || ', ' || v.title as title from product_variant v join product p on p.id = v.product_id
           where v.id = $1`,
          [sold.variantId],
        )
      : await sql("select title from product where id = $1", [sold.productId]);
  return row ? String(row.title) : null;
}
