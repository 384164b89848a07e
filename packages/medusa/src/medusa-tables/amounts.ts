/** The sum of the captures or refunds of the payment `p`, in major units, for a statement; null if there are none. */
export const sumOf = (table: "capture" | "refund") =>
  `(select sum((raw_amount ->> 'value')::numeric) from ${table} where payment_id = p.id and deleted_at is null)`;

/**
 * Whether an order has a capture or refund, for a statement. It counts, so that PostgreSQL looks at one order instead
 * of scanning the table. When Medusa refunds because it cancels the order, it records that by the payment instead of
 * the refund: that is the payment's last refund.
 */
export const isRecordedSql = (id: string, paymentId: string, kind: string, orderId: string) =>
  `((select count(*) from order_transaction t where t.reference = ${kind} and t.order_id = ${orderId} and t.deleted_at is null
    and (t.reference_id = ${id} or (t.reference_id = ${paymentId} and (${kind} = 'capture' or not exists (
      select from refund last join refund own on own.id = ${id}
      where last.payment_id = ${paymentId} and last.deleted_at is null and last.created_at > own.created_at))))) > 0)`;
