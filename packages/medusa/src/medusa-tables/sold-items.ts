import type { RunSql } from "@giftcard-pay/checkout";

/** Whose money goes back: of a variant, of all variants of a product, or all of these orders. */
export type Sold =
  | { readonly variantId: string }
  | { readonly productId: string }
  | { readonly orderIds: readonly string[] };

/** An order, and what the buyer still has of what is asked for. */
export interface SoldOrder {
  readonly orderId: string;
  /** `#12` */
  readonly orderName: string;
  /** How many units the order has of each line now, and how many of them its buyer keeps, by the line's id. */
  readonly lines: readonly { readonly id: string; readonly quantity: number; readonly kept: number }[];
}

/** What isn't the buyer's any more, or won't be. */
const BACK = ["return_requested", "return_received", "return_dismissed", "written_off"]
  .map((what) => `coalesce(item.${what}_quantity, 0)`)
  .join(" - ");

/**
 * The orders that have it, oldest first, without those that are canceled. Of whole orders, all their lines.
 *
 * Reads order, order_item and order_line_item.
 *
 * @param only this order alone
 */
export async function findSold(run: RunSql, sold: Sold, only?: string): Promise<SoldOrder[]> {
  const [column, value] =
    "variantId" in sold
      ? ["line.variant_id", [sold.variantId]]
      : "productId" in sold
        ? ["line.product_id", [sold.productId]]
        : ["o.id", sold.orderIds];
  const rows = await run(
    `select o.id, o.display_id, json_agg(json_build_object('id', line.id, 'quantity', item.quantity::float8,
         'kept', greatest(0, item.quantity - ${BACK})::float8) order by line.id) as lines
     from order_line_item line
     join order_item item on item.item_id = line.id and item.deleted_at is null
     join "order" o on o.id = item.order_id and item.version = o.version
     where ${column} = any($1::text[]) and line.deleted_at is null and o.deleted_at is null and o.canceled_at is null and not o.is_draft_order
       and ($2::text is null or o.id = $2)
     group by o.id, o.display_id order by o.display_id`,
    [[...value], only ?? null],
  );
  return rows.map((row) => ({
    orderId: String(row.id),
    orderName: `#${row.display_id}`,
    lines: row.lines as SoldOrder["lines"],
  }));
}

/**
 * What people call it: the product's title, with the variant's; null where there is no such product, variant or order.
 *
 * Reads product and product_variant.
 */
export async function nameOfSold(run: RunSql, sold: Sold): Promise<string | null> {
  if ("orderIds" in sold) return sold.orderIds.length === 1 ? "1 order" : `${sold.orderIds.length} orders`;
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
