import type { Sql } from "@giftcard-pay/checkout/plugin";

/** A refund in Medusa that a refund of many orders has made, or has begun. */
export interface RunRefund {
  readonly refundId: string;
  readonly paymentId: string;
  /** Whether the order knows of it. */
  readonly isRecorded: boolean;
}

/**
 * What a run has refunded of an order.
 *
 * Reads refund, payment, order_payment_collection and order_transaction.
 *
 * @param key under which the refund's metadata names the run
 */
export async function readBulkRefundParts(
  sql: Sql,
  {
    bulkRefundId,
    orderId,
    key,
  }: { readonly bulkRefundId: string; readonly orderId: string; readonly key: string },
): Promise<RunRefund[]> {
  const rows = await sql(
    `select refund.id, refund.payment_id, (select count(*) from order_transaction t where t.order_id = $2
         and t.reference_id = refund.id and t.reference = 'refund' and t.deleted_at is null) > 0 as is_recorded
     from order_payment_collection l
     join payment p on p.payment_collection_id = l.payment_collection_id and p.deleted_at is null
     join refund on refund.payment_id = p.id and refund.deleted_at is null
     where l.order_id = $2 and l.deleted_at is null and refund.metadata ->> $3 = $1`,
    [bulkRefundId, orderId, key],
  );
  return rows.map((row) => ({
    refundId: String(row.id),
    paymentId: String(row.payment_id),
    isRecorded: row.is_recorded === true,
  }));
}

/**
 * What a run's order is refunded by: its items with what was returned of them, what was captured, and what others than the
 * run have refunded. As long as it is the same, so is the run's plan.
 *
 * Reads order, order_item, order_payment_collection, payment, capture and refund.
 *
 * @param key under which the refund's metadata names the run
 */
export async function readBulkRefundBasis(
  sql: Sql,
  {
    bulkRefundId,
    orderId,
    key,
  }: { readonly bulkRefundId: string; readonly orderId: string; readonly key: string },
): Promise<string> {
  const [row] = await sql(
    `with paid as (select p.id from order_payment_collection l
       join payment p on p.payment_collection_id = l.payment_collection_id and p.deleted_at is null
       where l.order_id = $2 and l.deleted_at is null)
     select md5(concat_ws(' ',
       (select string_agg(concat_ws(':', item.item_id, item.quantity, item.return_requested_quantity, item.return_received_quantity,
           item.return_dismissed_quantity, item.written_off_quantity), ' ' order by item.item_id)
         from order_item item join "order" o on o.id = item.order_id and item.version = o.version
         where o.id = $2 and item.deleted_at is null),
       (select sum(amount) from capture where payment_id in (select id from paid) and deleted_at is null),
       (select string_agg(refund.id, ' ' order by refund.id) from refund
         where payment_id in (select id from paid) and deleted_at is null and metadata ->> $3 is distinct from $1))) as basis`,
    [bulkRefundId, orderId, key],
  );
  return String(row?.basis);
}
