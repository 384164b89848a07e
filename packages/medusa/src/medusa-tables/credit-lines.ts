import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";
import { ORDERED, SCANNED, type Scan } from "./scan.js";

/** A credit line that Medusa began to write into an order, and never confirmed. */
export interface BegunCreditLine {
  /** The order change. */
  readonly changeId: string;
  readonly orderId: string;
  /** It says what is to be waived: Medusa writes that after the change itself. */
  readonly isWhole: boolean;
}

/**
 * Credit lines that Medusa began for a refund and never confirmed, since its process died in between. Nobody can confirm
 * or cancel them as an edit, and until that is done the order takes no other change.
 *
 * Reads order_change and order_change_action.
 */
export async function findBegunCreditLines({ sql, after, only, leaseMs }: Scan): Promise<BegunCreditLine[]> {
  const rows = await sql(
    `with ${SCANNED}, ${ORDERED} select change.id, ordered.id as order_id,
       (select count(*) from order_change_action where order_change_id = change.id and deleted_at is null) > 0 as is_whole
     from ordered cross join lateral (select id from order_change
       where order_id = ordered.id and change_type = 'credit_line' and status in ('pending', 'requested')
         and deleted_at is null and created_at <= now() - ${sqlInterval("$3")} offset 0) change
     order by change.id`,
    [after, only, leaseMs],
  );
  return rows.map((row) => ({
    changeId: String(row.id),
    orderId: String(row.order_id),
    isWhole: row.is_whole === true,
  }));
}

/**
 * Whether an order has a credit line that names this refund.
 *
 * Reads order_credit_line.
 */
export async function isWaived(sql: Sql, orderId: string, refundId: string): Promise<boolean> {
  const rows = await sql(
    `select 1 from order_credit_line
     where order_id = $1 and reference = 'refund' and reference_id = $2 and deleted_at is null limit 1`,
    [orderId, refundId],
  );
  return rows.length > 0;
}
