import type { PaymentQuery, ShopPayment } from "@giftcard-pay/checkout/operator";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { centsSql } from "../amount.js";
import { PROVIDER_ID } from "../names.js";
import { hasRows, readRow, readRows, readTexts } from "../rows.js";

/** An order's payments `p` and their links `l` to it, for the `from` of a statement. */
export const paymentsOf = (orderId: string) => `order_payment_collection l
  join payment p on p.payment_collection_id = l.payment_collection_id and p.deleted_at is null
    and l.order_id = ${orderId} and l.deleted_at is null`;

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

/** The state of a session's payment, which decides what happens to the session. */
export interface PaymentView {
  readonly id: string;
  readonly isCaptured: boolean;
  readonly isOver: boolean;
}

/** A payment session and its payment, if they exist. */
export interface SessionPayment {
  readonly id: string;
  /** null if neither exists. */
  readonly provider_id: string | null;
  /** null if the session is deleted. Another process may have deleted it while its payment was created. */
  readonly status: string | null;
  readonly payment: PaymentView | null;
}

/** The state of a payment in Medusa. */
interface PaymentStanding {
  readonly isCanceled: boolean;
  readonly isRefunded: boolean;
  /** The captured amount minus its refunds, in major units; null if nothing was captured. */
  readonly capturedLeft: string | null;
  readonly isPartial: boolean;
}

/** The state of the payment `p`, for a subquery, with the columns of `PaymentStanding`. */
export const PAYMENT_STANDING = `select p.canceled_at is not null as "isCanceled",
  coalesce(${sumOf("refund")} >= coalesce(${sumOf("capture")}, 0), false) as "isRefunded",
  (${sumOf("capture")} - coalesce(${sumOf("refund")}, 0))::text as "capturedLeft",
  coalesce(${sumOf("capture")}, 0) < (p.raw_amount ->> 'value')::numeric as "isPartial"`;

/** The payment `p` as a `PaymentView`; null if there is none. */
export const PAYMENT_VIEW = `case when p.id is not null then (select json_build_object('id', p.id,
  'isCaptured', coalesce("capturedLeft"::numeric > 0, false),
  'isOver', "isCanceled" or (not "isPartial" and "capturedLeft"::numeric <= 0)) from (${PAYMENT_STANDING}) standing) end`;

/** Reads the state of a payment; null if it doesn't exist. */
export const readPaymentStanding = (sql: Sql, paymentId: string): Promise<PaymentStanding | null> =>
  readRow(sql, `select standing.* from payment p cross join lateral (${PAYMENT_STANDING}) standing where id = $1`, [
    paymentId,
  ]);

/** Reads sessions with their payments. The payment of a deleted session may still exist. */
export const readSessionPayments = (sql: Sql, sessionIds: readonly string[]): Promise<SessionPayment[]> =>
  readRows(
    sql,
    `select wanted.id, s.status, coalesce(p.provider_id, s.provider_id) as provider_id, ${PAYMENT_VIEW} as payment
     from unnest($1::text[]) wanted (id)
     left join payment_session s on s.id = wanted.id and s.deleted_at is null
     left join payment p on p.payment_session_id = wanted.id and p.deleted_at is null`,
    [sessionIds],
  );

export const hasSession = (sql: Sql, sessionId: string): Promise<boolean> =>
  hasRows(sql, "select 1 from payment_session where id = $1 and deleted_at is null", [sessionId]);

/** The cart or order that a payment collection is for. */
export interface CollectionView {
  readonly cartId: string | null;
  /** Whether a card was ever on the cart. */
  readonly hadCards: boolean;
  /** The name of the order, such as `#12`. */
  readonly orderName: string | null;
  /**
   * Whether a session of the collection holds money for an order. If the cart had cards, a promise to pay counts too:
   * the cards were charged because of it.
   */
  readonly paysOrder: boolean;
}

/** Reads what a payment collection is for. */
export async function readCollection(sql: Sql, collectionId: string): Promise<CollectionView> {
  const row = await readRow<CollectionView>(
    sql,
    `select found.*, (select count(*) from payment_session s
         left join payment p on p.payment_session_id = s.id and p.deleted_at is null
         where s.payment_collection_id = $1 and s.deleted_at is null and found."isOfOrder"
           and ((found."hadCards" and s.status = 'pending_authorization')
             or (p.id is not null and not coalesce((${PAYMENT_VIEW} ->> 'isOver')::boolean, false)))) > 0 as "paysOrder"
     from (select cart.id as "cartId", '#' || o.display_id as "orderName",
         (select count(*) from giftcard_tender where cart_id = coalesce(cart.id, placed.cart_id)) > 0 as "hadCards",
         o.id is not null or cart.completed_at is not null as "isOfOrder"
       from (select $1::text as id) asked
       left join cart_payment_collection l on l.payment_collection_id = asked.id and l.deleted_at is null
       left join cart on cart.id = l.cart_id
       left join order_payment_collection paid on paid.payment_collection_id = asked.id and paid.deleted_at is null
       left join "order" o on o.id = paid.order_id
       left join order_cart placed on placed.order_id = o.id and placed.deleted_at is null limit 1) found`,
    [collectionId],
  );
  return row ?? { cartId: null, hadCards: false, orderName: null, paysOrder: false };
}

/**
 * Tells whether a payment collection belongs to an order.
 * @param id the id of the collection, or of one of its sessions
 */
export const isOfOrder = (sql: Sql, id: string): Promise<boolean> =>
  hasRows(
    sql,
    `select 1 from order_payment_collection where deleted_at is null
       and payment_collection_id in ($1::text, (select payment_collection_id from payment_session where id = $1::text))`,
    [id],
  );

/** Returns those of these refunds that Medusa made because it canceled their order: it records them by their payment. */
export async function readCancelRefunds(sql: Sql, refundIds: readonly string[]): Promise<Set<string>> {
  const ids = await readTexts(
    sql,
    `select r.id from unnest($1::text[]) wanted (id) join refund r on r.id = wanted.id and r.deleted_at is null
     join payment p on p.id = r.payment_id
     join order_payment_collection link on link.payment_collection_id = p.payment_collection_id and link.deleted_at is null
     join "order" o on o.id = link.order_id and o.canceled_at is not null
     where (select count(*) from order_transaction t where t.order_id = o.id and t.reference = 'refund'
       and t.reference_id = r.id and t.deleted_at is null) = 0`,
    [[...new Set(refundIds)]],
  );
  return new Set(ids);
}

const PAGE = 500;

/**
 * Reads Medusa's gift card payments page by page, in the order of their ids.
 * @param query selects the payments of these sessions, and all that were made in this time
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

async function readPaymentPage(sql: Sql, { from, to, externalIds }: PaymentQuery, after: string) {
  const params: unknown[] = [PROVIDER_ID, after, PAGE];
  const p = (value: unknown) => `$${params.push(value)}`;
  // Only the requested conditions, so that PostgreSQL can use the index of each.
  const wanted = [
    ...(externalIds.length > 0 ? [`p.payment_session_id = any(${p(externalIds)}::text[])`] : []),
    ...(from < to ? [`(p.created_at >= ${p(from)} and p.created_at < ${p(to)})`] : []),
  ];
  if (wanted.length === 0) return [];
  return readRows<ShopPayment & { id: string }>(
    sql,
    `select p.id, p.payment_session_id as "externalId", link.order_id as "orderId", p.canceled_at is not null as "isCanceled",
       ${centsSql("p.amount")}::integer as "amountCents", ${centsSql(`coalesce(${sumOf("capture")}, 0)`)}::integer as "capturedCents",
       ${centsSql(`coalesce(${sumOf("refund")}, 0)`)}::integer as "refundedCents"
     from (select * from payment p where p.provider_id = $1 and p.id > $2 and p.deleted_at is null
         and (${wanted.join(" or ")}) order by p.id limit $3) p
       left join order_payment_collection link
         on link.payment_collection_id = p.payment_collection_id and link.deleted_at is null
     order by p.id`,
    params,
  );
}
