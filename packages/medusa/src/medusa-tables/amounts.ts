/** What was captured or refunded of the payment `p`, in major units, for a statement; null where nothing was. */
export const sumOf = (table: "capture" | "refund") =>
  `(select sum((raw_amount ->> 'value')::numeric) from ${table} where payment_id = p.id and deleted_at is null)`;
