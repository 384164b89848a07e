import type { Sql } from "@giftcard-pay/checkout/plugin";

/**
 * Lets an order of a refund of many be tried again at once, or left as it is.
 *
 * @returns false where it isn't waiting for a person
 */
export async function decideOrder(
  sql: Sql,
  { bulkRefundId, orderId }: { readonly bulkRefundId: string; readonly orderId: string },
  state: "open" | "kept",
): Promise<boolean> {
  const rows = await sql(
    `update giftcard_bulk_refund_order set state = $3, lease_until = null, updated_at = now()
     where bulk_refund_id = $1 and order_id = $2 and state = 'person' returning 1`,
    [bulkRefundId, orderId, state],
  );
  return rows.length === 1;
}
