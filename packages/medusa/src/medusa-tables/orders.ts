import type { OrderLine } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import { centsSql } from "../amount.js";
import { PROVIDER_ID } from "../names.js";
import { hasRows, readRow, readTexts } from "../rows.js";
import type { Reason, ReasonCode } from "../sentences.js";
import type { OrderPayment } from "./order-payment.js";
import { paymentsOf, sumOf } from "./payments.js";

/** Reads the display names of the orders that these rows name, such as `#12`, by their ids. */
export async function readOrderNames(
  sql: Sql,
  named: readonly { readonly orderId: string | null }[],
): Promise<Record<string, string>> {
  const orderIds = new Set(named.flatMap(({ orderId }) => orderId ?? []));
  if (orderIds.size === 0) return {};
  const rows = await sql(`select id, display_id from "order" where id = any($1::text[])`, [[...orderIds]]);
  return Object.fromEntries(rows.map((row) => [String(row.id), `#${row.display_id}`]));
}

/** Finds the canceled orders among those that these rows name. */
export const readCanceledOrders = (
  sql: Sql,
  named: readonly { readonly orderId: string | null }[],
): Promise<string[]> =>
  readTexts(sql, `select id from "order" where id = any($1::text[]) and canceled_at is not null`, [
    named.flatMap(({ orderId }) => orderId ?? []),
  ]);

/**
 * Records that an order was paid, for its total when it was placed. From then on, recovery never cancels, voids or refunds
 * it. A canceled order isn't recorded: later payments for it are refunded.
 */
export async function notePaid(sql: Sql, { orderId, cartId, totalCents }: OrderPayment): Promise<void> {
  await sql(
    `insert into giftcard_order (order_id, cart_id, total_cents, paid_at)
     select $1, $2, $3, now() where (select count(*) from "order" where id = $1 and canceled_at is null) = 1
     on conflict (order_id) do update set paid_at = coalesce(giftcard_order.paid_at, excluded.paid_at),
       total_cents = coalesce(giftcard_order.total_cents, excluded.total_cents)`,
    [orderId, cartId, totalCents],
  );
}

/**
 * Records an order's lines in whole cents as they were paid, once, because an edit changes Medusa's own. They state what
 * each unit is worth when it is returned.
 */
export async function noteLines(
  sql: Sql,
  { orderId, cartId }: { readonly orderId: string; readonly cartId: string | null },
  lines: readonly OrderLine[],
): Promise<void> {
  await sql(
    `insert into giftcard_order (order_id, cart_id, lines) values ($1, $2, $3::jsonb)
     on conflict (order_id) do update set lines = coalesce(giftcard_order.lines, excluded.lines)`,
    [orderId, cartId, JSON.stringify(lines)],
  );
}

/** Reads the cart's only order, if the session's payment is in force; otherwise null. */
export async function orderWithPayment(sql: Sql, cartId: string, sessionId: string): Promise<string | null> {
  const [orderId = null] = await readTexts(
    sql,
    `select min(order_id) from order_cart where cart_id = $1 and deleted_at is null having count(*) = 1
       and (select count(*) from payment where payment_session_id = $2 and canceled_at is null and deleted_at is null) > 0`,
    [cartId, sessionId],
  );
  return orderId;
}

const OPEN_CHANGES: Readonly<Record<string, ReasonCode>> = {
  edit: "openEdit",
  return_request: "openReturn",
  return_receive: "openReturn",
  exchange: "openExchange",
  claim: "openClaim",
  transfer: "openTransfer",
};

/**
 * Names the edit, return, exchange, claim or transfer of the order that is open; null if there is none.
 * @param options.but ignores changes of this kind
 */
export async function readOpenChange(
  sql: Sql,
  orderId: string,
  { but = null }: { but?: "credit_line" | null } = {},
): Promise<Reason | null> {
  const change = await readRow<{ type: string | null }>(
    sql,
    `select change_type as type from order_change where order_id = $1 and status in ('pending', 'requested')
       and deleted_at is null and change_type is distinct from $2 limit 1`,
    [orderId, but],
  );
  return change && { code: OPEN_CHANGES[change.type ?? ""] ?? "openChange" };
}

/**
 * Reads what is authorized and not captured of an order with cards that has an open change; null if there is nothing. Reads
 * order_change, order_payment_collection, payment_collection, payment and capture.
 * @param id the id of the order, or of the change's return, exchange or claim
 */
export const readHeldInChange = (sql: Sql, id: string): Promise<{ orderId: string; cents: number } | null> =>
  readRow(
    sql,
    `select held.* from (select change.order_id as "orderId",
       (select ${centsSql(`sum((p.raw_amount ->> 'value')::numeric - coalesce(${sumOf("capture")}, 0))`)}::integer
         from ${paymentsOf("change.order_id")}
         join payment_collection c on c.id = p.payment_collection_id and c.status in ('authorized', 'partially_authorized')
         where p.captured_at is null and p.canceled_at is null) as cents
       from order_change change
       where $1 in (change.order_id, change.return_id, change.exchange_id, change.claim_id)
         and change.status in ('pending', 'requested') and change.deleted_at is null
         and exists (select from ${paymentsOf("change.order_id")} where p.provider_id = '${PROVIDER_ID}') limit 1) held
     where held.cents > 0`,
    [id],
  );

/** Returns whether a payment of the order was promised and hasn't settled. */
export const awaitsPayment = (sql: Sql, orderId: string): Promise<boolean> =>
  hasRows(
    sql,
    `select 1 from order_payment_collection l join payment_session s on s.payment_collection_id = l.payment_collection_id
     where l.order_id = $1 and l.deleted_at is null and s.status = 'pending_authorization' and s.deleted_at is null limit 1`,
    [orderId],
  );
