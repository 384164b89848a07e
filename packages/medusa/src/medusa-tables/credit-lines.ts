import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";
import { hasRows, readRows } from "../rows.js";
import { ORDERED, SCANNED, type Scan } from "./scan.js";

/** A credit line that Medusa began to write into an order, and never confirmed. */
export interface BegunCreditLine {
  readonly changeId: string;
  readonly orderId: string;
  /** Whether it has its amount. Medusa writes that after the change itself. */
  readonly isWhole: boolean;
}

/**
 * Finds credit lines that Medusa began for a refund and never confirmed, because its process died. Nobody can confirm
 * or cancel them as an edit, and they block every other change of the order. Reads order_change and
 * order_change_action.
 */
export const findBegunCreditLines = ({ sql, after, only, leaseMs }: Scan): Promise<BegunCreditLine[]> =>
  readRows(
    sql,
    `with ${SCANNED}, ${ORDERED} select change.id as "changeId", ordered.id as "orderId",
       (select count(*) from order_change_action where order_change_id = change.id and deleted_at is null) > 0 as "isWhole"
     from ordered cross join lateral (select id from order_change
       where order_id = ordered.id and change_type = 'credit_line' and status in ('pending', 'requested')
         and deleted_at is null and created_at <= now() - ${sqlInterval("$3")} offset 0) change
     order by change.id`,
    [after, only, leaseMs],
  );

/** Tells whether an order has a credit line for this refund. Reads order_credit_line. */
export const isWaived = (sql: Sql, orderId: string, refundId: string): Promise<boolean> =>
  hasRows(
    sql,
    `select 1 from order_credit_line
     where order_id = $1 and reference = 'refund' and reference_id = $2 and deleted_at is null limit 1`,
    [orderId, refundId],
  );
