import type { Sql } from "@giftcard-pay/checkout/plugin";
import { hasRows } from "../rows.js";

/**
 * Retries an order of a bulk refund, or exempts it, as a person decided.
 * @returns false if it doesn't wait for a person
 */
export const decideOrder = (
  sql: Sql,
  { bulkRefundId, orderId }: { readonly bulkRefundId: string; readonly orderId: string },
  state: "open" | "exempted",
): Promise<boolean> =>
  hasRows(
    sql,
    `update giftcard_bulk_refund_order set state = $3, lease_until = null, updated_at = now()
     where bulk_refund_id = $1 and order_id = $2 and state = 'person' returning 1`,
    [bulkRefundId, orderId, state],
  );
