import type { PaymentQuery, ShopPayment } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { centsSql } from "../amount.js";
import { PROVIDER_ID } from "../names.js";
import { sumOf } from "./amounts.js";

/** A payment, as far as it decides what may become of its session. */
export interface PaymentView {
  readonly id: string;
  /** Some of it is captured and not refunded. */
  readonly isCaptured: boolean;
  /** Canceled, or captured and refunded as a whole: it pays nothing any more. */
  readonly isOver: boolean;
}

/** A payment session and its payment, as far as they are still there. */
export interface SessionPayment {
  readonly id: string;
  /** null where neither of them is there. */
  readonly provider_id: string | null;
  /** null where the session is gone: another process may have deleted it while its payment was made. */
  readonly status: string | null;
  readonly payment: PaymentView | null;
}

/** What Medusa thinks of a payment. */
export interface PaymentStanding {
  readonly isCanceled: boolean;
  /** All that was captured is refunded. */
  readonly isRefunded: boolean;
  /** Captured and not refunded, in major units; null where nothing was captured. */
  readonly capturedLeft: string | null;
  /** Some of it was never captured. */
  readonly isPartial: boolean;
}

/** What Medusa thinks of the payment `p`, for a subquery. */
export const PAYMENT_STANDING = `select p.canceled_at is not null as is_canceled,
  coalesce(${sumOf("refund")} >= coalesce(${sumOf("capture")}, 0), false) as is_refunded,
  (${sumOf("capture")} - coalesce(${sumOf("refund")}, 0))::text as captured_left,
  coalesce(${sumOf("capture")}, 0) < (p.raw_amount ->> 'value')::numeric as is_partial`;

/** The payment `p` as a `PaymentView`, or null where there is none. */
export const PAYMENT_VIEW = `case when p.id is not null then (select json_build_object('id', p.id,
  'isCaptured', coalesce(captured_left::numeric > 0, false),
  'isOver', is_canceled or (not is_partial and captured_left::numeric <= 0)) from (${PAYMENT_STANDING}) standing) end`;

/**
 * What Medusa thinks of a payment, or null where there is none.
 *
 * Reads payment, capture and refund.
 */
export async function readPaymentStanding(sql: Sql, paymentId: string): Promise<PaymentStanding | null> {
  const [row] = await sql(
    `select standing.* from payment p cross join lateral (${PAYMENT_STANDING}) standing where id = $1`,
    [paymentId],
  );
  if (!row) return null;
  return {
    isCanceled: row.is_canceled === true,
    isRefunded: row.is_refunded === true,
    capturedLeft: row.captured_left === null ? null : String(row.captured_left),
    isPartial: row.is_partial === true,
  };
}

/** A refund of a payment, as Medusa has written it down before it asks the provider. */
export interface WrittenRefund {
  readonly id: string;
  /** In major units, with its fractions of a cent. */
  readonly amount: string;
  readonly metadata: unknown;
}

/**
 * Reads the amount of this session's payment, and the refunds that Medusa has written down for it, oldest first; null if
 * there is no payment.
 *
 * Reads payment and refund.
 */
export async function readRefunds(
  sql: Sql,
  sessionId: string,
): Promise<{ amount: string; refunds: WrittenRefund[] } | null> {
  const [row] = await sql(
    `select amount::text, (select coalesce(json_agg(json_build_object('id', id, 'amount', amount::text, 'metadata', metadata)
         order by created_at, id), '[]') from refund where payment_id = p.id and deleted_at is null) as refunds
     from payment p where payment_session_id = $1 and deleted_at is null`,
    [sessionId],
  );
  return row ? { amount: String(row.amount), refunds: row.refunds as WrittenRefund[] } : null;
}

/**
 * These sessions with their payments. Of a session that isn't there any more, its payment may be.
 *
 * Reads payment_session, payment, capture and refund.
 */
export async function readSessionPayments(
  sql: Sql,
  sessionIds: readonly string[],
): Promise<SessionPayment[]> {
  const rows = await sql(
    `select wanted.id, s.status, coalesce(p.provider_id, s.provider_id) as provider_id, ${PAYMENT_VIEW} as payment
     from unnest($1::text[]) wanted (id)
     left join payment_session s on s.id = wanted.id and s.deleted_at is null
     left join payment p on p.payment_session_id = wanted.id and p.deleted_at is null`,
    [sessionIds],
  );
  return rows as unknown as SessionPayment[];
}

/**
 * Whether there is such a payment session.
 *
 * Reads payment_session.
 */
export async function hasSession(sql: Sql, sessionId: string): Promise<boolean> {
  const rows = await sql("select 1 from payment_session where id = $1 and deleted_at is null", [sessionId]);
  return rows.length > 0;
}

/**
 * Whether the collection is an order's, and one of its sessions holds or took money for that, or promises to.
 *
 * Reads payment_session, payment, order_payment_collection, cart_payment_collection and cart.
 */
export async function paysOrder(sql: Sql, collectionId: string): Promise<boolean> {
  const [row] = await sql(
    `select exists (
         select 1 from payment_session s
         left join payment p on p.payment_session_id = s.id and p.deleted_at is null
         where s.payment_collection_id = $1 and s.deleted_at is null
           and (s.status = 'pending_authorization' or (p.id is not null and p.canceled_at is null))
       ) and (
         exists (select 1 from order_payment_collection
           where payment_collection_id = $1 and deleted_at is null)
         or exists (select 1 from cart_payment_collection l
           join cart on cart.id = l.cart_id and cart.completed_at is not null
           where l.payment_collection_id = $1 and l.deleted_at is null)
       ) as pays`,
    [collectionId],
  );
  return row?.pays === true;
}

/**
 * Whether a payment collection belongs to an order.
 *
 * Reads order_payment_collection and payment_session.
 *
 * @param id the collection's, or that of one of its sessions
 */
export async function isOfOrder(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql(
    `select 1 from order_payment_collection where deleted_at is null
       and payment_collection_id in ($1::text, (select payment_collection_id from payment_session where id = $1::text))`,
    [id],
  );
  return rows.length > 0;
}

/** So many are in memory at once. */
const PAGE = 500;

/**
 * Medusa's gift card payments, in the order of their ids, read page by page.
 *
 * Reads payment, order_payment_collection, capture and refund.
 *
 * @param query those of these sessions, and all that were made in this time
 */
export async function* readGiftcardPayments(sql: Sql, query: PaymentQuery): AsyncGenerator<ShopPayment> {
  let after = "";
  for (;;) {
    const page = await readPaymentPage(sql, query, after);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
  }
}

async function readPaymentPage(
  sql: Sql,
  { from, to, externalIds }: PaymentQuery,
  after: string,
): Promise<(ShopPayment & { id: string })[]> {
  const sum = (table: string) =>
    `(select coalesce(sum(amount), 0) from ${table} where payment_id = p.id and deleted_at is null)`;
  const params: unknown[] = [PROVIDER_ID, after, PAGE];
  const p = (value: unknown) => `$${params.push(value)}`;
  // Only what is asked for stands in it, so that each is found by its index.
  const wanted = [
    ...(externalIds.length > 0 ? [`p.payment_session_id = any(${p(externalIds)}::text[])`] : []),
    ...(from < to ? [`(p.created_at >= ${p(from)} and p.created_at < ${p(to)})`] : []),
  ];
  if (wanted.length === 0) return [];
  const rows = await sql(
    `select p.id, p.payment_session_id as external_id, link.order_id, p.canceled_at is not null as is_canceled,
       ${centsSql("p.amount")}::integer as amount_cents, ${centsSql(sum("capture"))}::integer as captured_cents,
       ${centsSql(sum("refund"))}::integer as refunded_cents
     from (select * from payment p where p.provider_id = $1 and p.id > $2 and p.deleted_at is null
         and (${wanted.join(" or ")}) order by p.id limit $3) p
       left join order_payment_collection link
         on link.payment_collection_id = p.payment_collection_id and link.deleted_at is null
     order by p.id`,
    params,
  );
  return rows.map((row) => ({
    id: String(row.id),
    externalId: String(row.external_id),
    orderId: row.order_id as string | null,
    amountCents: Number(row.amount_cents),
    capturedCents: Number(row.captured_cents),
    refundedCents: Number(row.refunded_cents),
    isCanceled: row.is_canceled as boolean,
  }));
}
