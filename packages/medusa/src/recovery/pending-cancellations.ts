import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { Scan } from "../medusa-tables/scan.js";
import type { UnpaidOrder, UnpaidReason } from "../medusa-tables/unpaid-orders.js";
import { readRows } from "../rows.js";

/**
 * Records that an order is to be canceled, before anything of it is. A cancellation that stops half-way is found by this
 * record alone.
 * @returns why the order ends. A broken promise to pay later stays broken
 */
export async function notePendingCancellation(
  sql: Sql,
  { orderId, cartId, reason }: UnpaidOrder,
): Promise<UnpaidReason> {
  const [row] = await sql(
    `insert into giftcard_unpaid_order as known (order_id, cart_id, reason) values ($1, $2, $3)
     on conflict (order_id) do update set cart_id = excluded.cart_id,
       reason = case known.reason when 'unpaid' then excluded.reason else known.reason end
     returning reason`,
    [orderId, cartId, reason],
  );
  return row?.reason as UnpaidReason;
}

/** Deletes the record of an order that is paid, or deleted. */
export async function forgetPendingCancellation(sql: Sql, orderId: string): Promise<void> {
  await sql("delete from giftcard_unpaid_order where order_id = $1", [orderId]);
}

/** Records that the order is canceled. It is watched for another day: a stalled completion may resume and pay it. */
export async function noteCanceled(sql: Sql, orderId: string): Promise<void> {
  await sql("update giftcard_unpaid_order set canceled_at = now() where order_id = $1 and canceled_at is null", [
    orderId,
  ]);
  await sql("delete from giftcard_unpaid_order where order_id = $1 and canceled_at < now() - interval '1 day'", [
    orderId,
  ]);
}

/** Finds orders with a recorded cancellation, also those that need a person: what blocked them may be gone by now. */
export const findPendingCancellations = ({ sql, only }: Scan): Promise<UnpaidOrder[]> =>
  readRows(
    sql,
    `select order_id as "orderId", cart_id as "cartId", reason from giftcard_unpaid_order
     where $1::text is null or order_id = $1 order by order_id`,
    [only],
  );
