import type { Sql } from "@giftcard-pay/checkout/plugin";

/** Whose money goes back: of a variant, of all variants of a product, or all of these orders. */
export type Sold =
  | { readonly variantId: string }
  | { readonly productId: string }
  | { readonly orderIds: readonly string[] };

/** An order that has it. */
export interface SoldOrder {
  readonly orderId: string;
  /** `#12` */
  readonly orderName: string;
}

/**
 * Finds the orders that have it, oldest first, without those that are canceled.
 *
 * Reads order, order_item and order_line_item.
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
        : // Such an order may have no item left, and still owe its shipping.
          ["o.id = any($1::text[])", [...sold.orderIds]];
  const rows = await sql(
    `select o.id, o.display_id from "order" o
     where ${matches} and o.deleted_at is null and o.canceled_at is null and not o.is_draft_order order by o.display_id`,
    [value],
  );
  return rows.map((row) => ({ orderId: String(row.id), orderName: `#${row.display_id}` }));
}

/**
 * What people call it: the product's title, with the variant's; null where there is no such product, variant or order.
 *
 * Reads product and product_variant.
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
