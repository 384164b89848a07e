import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";
import { orderedStates } from "@giftcard-pay/checkout/store";
import { PROVIDER_ID } from "../names.js";
import { isRecordedSql } from "./amounts.js";
import { ORDERED, SCANNED, type Scan } from "./scan.js";
import { stateList } from "./state-list.js";

/** A capture or refund of a gift card payment that its order doesn't know of. */
export interface UnrecordedPayment {
  readonly cartId: string;
  /** The payment session. */
  readonly sessionId: string;
  readonly orderId: string;
  readonly currency: string;
  readonly kind: "capture" | "refund";
  readonly entryId: string;
  readonly paymentId: string;
  /** Whether Medusa knows that the payment is captured. */
  readonly isCaptured: boolean;
  /** As Medusa wrote it down, in major units. */
  readonly amount: string;
}

const ofKind = (kind: "capture" | "refund") =>
  `select '${kind}' as kind, id, raw_amount->>'value' as amount, created_at from ${kind}
   where payment_id = p.id and deleted_at is null`;

/**
 * Captures and refunds that Medusa began and never finished: it writes them beside the payment first, and into the order
 * last, and died in between.
 *
 * Reads payment, capture, refund, order_transaction and order.
 */
export async function findUnrecorded({ sql, after, only, leaseMs }: Scan): Promise<UnrecordedPayment[]> {
  const rows = await sql(
    `with ${SCANNED} select distinct on (entry.kind, entry.id) charge.cart_id, charge.external_id, charge.order_id, p.currency_code,
       p.id as payment_id, p.captured_at, entry.kind, entry.id, entry.amount
     from scanned charge
     cross join lateral (select id, currency_code, captured_at from payment
       where payment_session_id = charge.external_id and deleted_at is null offset 0) p
     cross join lateral (${ofKind("capture")} union all ${ofKind("refund")} offset 0) entry
     where charge.state in (${stateList([...orderedStates, "reversing", "reversed"])})
       and entry.created_at < now() - ${sqlInterval("$3")}
       and not ${isRecordedSql("entry.id", "p.id", "entry.kind", "charge.order_id")}
       and (select count(*) from "order" where id = charge.order_id and deleted_at is null) = 1
     order by entry.kind, entry.id`,
    [after, only, leaseMs],
  );
  return rows.map((row) => ({
    cartId: String(row.cart_id),
    sessionId: String(row.external_id),
    orderId: String(row.order_id),
    currency: String(row.currency_code),
    kind: row.kind === "refund" ? "refund" : "capture",
    entryId: String(row.id),
    paymentId: String(row.payment_id),
    isCaptured: row.captured_at !== null,
    amount: String(row.amount),
  }));
}

/**
 * Whether the order knows of a capture or refund.
 *
 * Reads order_transaction.
 */
export async function isRecorded(
  sql: Sql,
  {
    entryId,
    paymentId,
    kind,
    orderId,
  }: Pick<UnrecordedPayment, "entryId" | "paymentId" | "kind" | "orderId">,
): Promise<boolean> {
  const statement = `select ${isRecordedSql("$1", "$2", "$3", "$4")} as done`;
  const [row] = await sql(statement, [entryId, paymentId, kind, orderId]);
  return row?.done === true;
}

/** A refund by another method than gift cards that its order doesn't know of: nobody can say whether it was made. */
export interface UnknownRefund {
  readonly refundId: string;
  readonly paymentId: string;
  readonly orderId: string;
  readonly currency: string;
  /** As Medusa wrote it down, in major units. */
  readonly amount: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/**
 * Refunds by other methods that Medusa began and never finished, of orders that gift cards pay too, that a refund of many
 * orders has, or of the one that is asked for: it writes them beside the payment before it asks the method, and into the order last, and died in
 * between.
 *
 * Reads order, order_payment_collection, payment, refund and order_transaction, beside the plugin's own.
 */
export async function findUnknownRefunds({ sql, after, only, leaseMs }: Scan): Promise<UnknownRefund[]> {
  const rows = await sql(
    `with ${SCANNED}, ${ORDERED} select entry.id, p.id as payment_id, ordered.id as order_id, p.currency_code, entry.amount, entry.metadata from ordered
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
  return rows.map((row) => ({
    refundId: String(row.id),
    paymentId: String(row.payment_id),
    orderId: String(row.order_id),
    currency: String(row.currency_code),
    amount: String(row.amount),
    metadata: row.metadata as UnknownRefund["metadata"],
  }));
}
