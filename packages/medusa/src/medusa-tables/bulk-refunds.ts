import type { Sql } from "@giftcard-pay/checkout/plugin";
import { BULK_REFUND } from "../names.js";
import { hasRows, readRows, readTexts } from "../rows.js";
import { paymentsOf } from "./payments.js";

interface BulkRefundKey {
  readonly bulkRefundId: string;
  readonly orderId: string;
}

/** Reads the refunds in Medusa that a bulk refund has made of an order, or has begun. */
export const readBulkRefundParts = (sql: Sql, { bulkRefundId, orderId }: BulkRefundKey) =>
  readRows<{ readonly paymentId: string; readonly isRecorded: boolean }>(
    sql,
    `select p.id as "paymentId", (select count(*) from order_transaction t where t.order_id = $2
         and t.reference_id = refund.id and t.reference = 'refund' and t.deleted_at is null) > 0 as "isRecorded"
     from ${paymentsOf("$2")} join refund on refund.payment_id = p.id and refund.deleted_at is null
     where refund.metadata ->> $3 = $1`,
    [bulkRefundId, orderId, BULK_REFUND],
  );

/**
 * Reads a hash of what an order's bulk refund was planned on: its items with what was returned of them, what was captured,
 * and other refunds. The plan stays valid as long as the hash is the same.
 */
export async function readBulkRefundBasis(sql: Sql, { bulkRefundId, orderId }: BulkRefundKey): Promise<string> {
  const [basis] = await readTexts(
    sql,
    `with paid as (select p.id from ${paymentsOf("$2")})
     select md5(concat_ws(' ',
       (select string_agg(concat_ws(':', item.item_id, item.quantity, item.return_requested_quantity, item.return_received_quantity,
           item.return_dismissed_quantity, item.written_off_quantity), ' ' order by item.item_id)
         from order_item item join "order" o on o.id = item.order_id and item.version = o.version
         where o.id = $2 and item.deleted_at is null),
       (select sum(amount) from capture where payment_id in (select id from paid) and deleted_at is null),
       (select string_agg(refund.id, ' ' order by refund.id) from refund
         where payment_id in (select id from paid) and deleted_at is null and metadata ->> $3 is distinct from $1)))`,
    [bulkRefundId, orderId, BULK_REFUND],
  );
  return String(basis);
}

/** The subject of a bulk refund: a variant, all variants of a product, or whole orders. */
export type Sold =
  | { readonly variantId: string }
  | { readonly productId: string }
  | { readonly orderIds: readonly string[] };

export interface SoldOrder {
  readonly orderId: string;
  readonly orderName: string;
}

/** Finds the orders that contain it, oldest first, without canceled ones. */
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

/**
 * Retries an order of a bulk refund, or exempts it, as a person decided.
 * @returns false if it doesn't wait for a person
 */
export const decideOrder = (
  sql: Sql,
  { bulkRefundId, orderId }: BulkRefundKey,
  state: "open" | "exempted",
): Promise<boolean> =>
  hasRows(
    sql,
    `update giftcard_bulk_refund_order set state = $3, lease_until = null, updated_at = now()
     where bulk_refund_id = $1 and order_id = $2 and state = 'person' returning 1`,
    [bulkRefundId, orderId, state],
  );
