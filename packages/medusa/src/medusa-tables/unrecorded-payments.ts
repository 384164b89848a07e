import { type Sql, sqlInterval, sqlList } from "@giftcard-pay/checkout/plugin";
import { bookedStates } from "@giftcard-pay/checkout/store";
import { PROVIDER_ID } from "../names.js";
import { hasRows, readRows, readTexts } from "../rows.js";
import { isRecordedSql } from "./payments.js";
import { ORDERED, SCANNED, type Scan } from "./scan.js";

/** A capture or refund of a gift card payment that its order doesn't have. */
export interface UnrecordedPayment {
  readonly cartId: string;
  readonly sessionId: string;
  readonly orderId: string;
  readonly currency: string;
  readonly kind: "capture" | "refund";
  readonly entryId: string;
  readonly paymentId: string;
  readonly isCaptured: boolean;
  /** In major units. */
  readonly amount: string;
}

const ofKind = (kind: "capture" | "refund") =>
  `select '${kind}' as kind, id, raw_amount->>'value' as amount, created_at from ${kind}
   where payment_id = p.id and deleted_at is null`;

/**
 * Finds captures and refunds that Medusa began and never finished. Medusa first writes them next to the payment, and last
 * into the order; its process died in between.
 */
export const findUnrecorded = ({ sql, after, only, leaseMs }: Scan): Promise<UnrecordedPayment[]> =>
  readRows(
    sql,
    `with ${SCANNED} select distinct on (entry.kind, entry.id) charge.cart_id as "cartId", charge.external_id as "sessionId",
       charge.order_id as "orderId", p.currency_code as currency, p.id as "paymentId", p.captured_at is not null as "isCaptured",
       entry.kind, entry.id as "entryId", entry.amount
     from scanned charge
     cross join lateral (select id, currency_code, captured_at from payment
       where payment_session_id = charge.external_id and deleted_at is null offset 0) p
     cross join lateral (${ofKind("capture")} union all ${ofKind("refund")} offset 0) entry
     where charge.state in (${sqlList(bookedStates)})
       and entry.created_at < now() - ${sqlInterval("$3")}
       and not ${isRecordedSql("entry.id", "p.id", "entry.kind", "charge.order_id")}
       and (select count(*) from "order" where id = charge.order_id and deleted_at is null) = 1
     order by entry.kind, entry.id`,
    [after, only, leaseMs],
  );

type RecordKey = Pick<UnrecordedPayment, "entryId" | "paymentId" | "kind" | "orderId">;

export const isRecorded = (sql: Sql, { entryId, paymentId, kind, orderId }: RecordKey): Promise<boolean> =>
  hasRows(sql, `select 1 where ${isRecordedSql("$1", "$2", "$3", "$4")}`, [entryId, paymentId, kind, orderId]);

/**
 * Reads the captures of a payment that Medusa began and never finished. Medusa takes them for complete, whether or not the
 * payment method was asked.
 */
export const readBegunCaptures = (
  sql: Sql,
  { paymentId, orderId }: { readonly paymentId: string; readonly orderId: string },
): Promise<string[]> =>
  readTexts(
    sql,
    `select c.id from payment p join capture c on c.payment_id = p.id and c.deleted_at is null
     where p.id = $1 and p.captured_at is null and not ${isRecordedSql("c.id", "p.id", "'capture'", "$2")}`,
    [paymentId, orderId],
  );

/** A refund by another method that its order doesn't have: nobody can tell whether it was made. */
export interface UnknownRefund {
  readonly refundId: string;
  readonly paymentId: string;
  readonly orderId: string;
  readonly currency: string;
  /** In major units. */
  readonly amount: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/**
 * Finds refunds by other methods that Medusa began and never finished, of orders with gift cards, of orders in a bulk
 * refund, or of the requested order. Medusa writes a refund next to the payment before it calls the method, and last into
 * the order; its process died in between.
 */
export const findUnknownRefunds = ({ sql, after, only, leaseMs }: Scan): Promise<UnknownRefund[]> =>
  readRows(
    sql,
    `with ${SCANNED}, ${ORDERED} select entry.id as "refundId", p.id as "paymentId", ordered.id as "orderId",
       p.currency_code as currency, entry.amount, entry.metadata from ordered
     cross join lateral (select payment_collection_id as id from order_payment_collection
       where order_id = ordered.id and deleted_at is null offset 0) collection
     cross join lateral (select id, currency_code from payment
       where payment_collection_id = collection.id and provider_id <> $4 and deleted_at is null offset 0) p
     cross join lateral (select id, raw_amount->>'value' as amount, metadata from refund
       where payment_id = p.id and deleted_at is null and created_at < now() - ${sqlInterval("$3")} offset 0) entry
     where not ${isRecordedSql("entry.id", "p.id", "'refund'", "ordered.id")}
       and (select count(*) from "order" where id = ordered.id and deleted_at is null) = 1
     order by entry.id`,
    [after, only, leaseMs, PROVIDER_ID],
  );

/** A credit line that Medusa began to write into an order, and never confirmed. */
export interface BegunCreditLine {
  readonly changeId: string;
  readonly orderId: string;
  /** Whether it has its amount. Medusa writes that after the change itself. */
  readonly isWhole: boolean;
}

/**
 * Finds credit lines that Medusa began for a refund and never confirmed, because its process died. Nobody can confirm or
 * cancel them as an edit, and they block every other change of the order.
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

/** Tells whether an order has a credit line for this refund. */
export const isWaived = (sql: Sql, orderId: string, refundId: string): Promise<boolean> =>
  hasRows(
    sql,
    `select 1 from order_credit_line
     where order_id = $1 and reference = 'refund' and reference_id = $2 and deleted_at is null limit 1`,
    [orderId, refundId],
  );
