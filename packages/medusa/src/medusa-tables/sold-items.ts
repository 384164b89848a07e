import type { RunSql } from "@giftcard-pay/checkout";

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
export async function findSold(run: RunSql, sold: Sold): Promise<SoldOrder[]> {
  const [column, value] =
    "variantId" in sold
      ? ["line.variant_id", [sold.variantId]]
      : "productId" in sold
        ? ["line.product_id", [sold.productId]]
        : ["o.id", sold.orderIds];
  const rows = await run(
    `select o.id, o.display_id from order_line_item line
     join order_item item on item.item_id = line.id and item.deleted_at is null
     join "order" o on o.id = item.order_id and item.version = o.version
     where ${column} = any($1::text[]) and line.deleted_at is null and o.deleted_at is null and o.canceled_at is null and not o.is_draft_order
     group by o.id, o.display_id order by o.display_id`,
    [[...value]],
  );
  return rows.map((row) => ({ orderId: String(row.id), orderName: `#${row.display_id}` }));
}

/**
 * What people call it: the product's title, with the variant's; null where there is no such product, variant or order.
 *
 * Reads product and product_variant.
 */
export async function nameOfSold(run: RunSql, sold: Sold): Promise<string | null> {
  if ("orderIds" in sold) {
    const { size } = new Set(sold.orderIds);
    return size === 1 ? "1 order" : `${size} orders`;
  }
  const [row] =
    "variantId" in sold
      ? await run(
          `select p.title || ', ' || v.title as title from product_variant v join product p on p.id = v.product_id
           where v.id = $1`,
          [sold.variantId],
        )
      : await run("select title from product where id = $1", [sold.productId]);
  return row ? String(row.title) : null;
}
