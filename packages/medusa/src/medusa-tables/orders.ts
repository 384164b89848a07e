import type { OrderLine } from "@giftcard-pay/checkout";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { OrderPayment } from "./order-payment.js";

/**
 * What people call these orders, `#12`, by id.
 *
 * Reads order.
 */
export async function readOrderNames(sql: Sql, orderIds: readonly string[]): Promise<Record<string, string>> {
  if (orderIds.length === 0) return {};
  const rows = await sql(`select id, display_id from "order" where id = any($1::text[])`, [
    [...new Set(orderIds)],
  ]);
  return Object.fromEntries(rows.map((row) => [String(row.id), `#${row.display_id}`]));
}

/**
 * Whose an order is, by the customer's id: of a guest too. null where there is no such order, or it is a draft.
 *
 * Reads order.
 */
export async function readOrderOwner(
  sql: Sql,
  orderId: string,
): Promise<{ customerId: string | null } | null> {
  const [row] = await sql(
    `select customer_id from "order" where id = $1 and not is_draft_order and deleted_at is null`,
    [orderId],
  );
  return row ? { customerId: row.customer_id as string | null } : null;
}

/**
 * Writes down that an order was paid, for the total as it was placed. Nothing automatic cancels, voids or refunds it from
 * then on. A canceled order isn't written down: what is paid to it later goes back.
 *
 * Reads order; writes giftcard_order.
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
 * Notes an order's lines in whole cents as they were paid, once: an edit changes Medusa's own. From then on they say what
 * each unit is worth when it comes back.
 *
 * Writes giftcard_order.
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

/**
 * The cart's only order, where the session's payment is in force; or null.
 *
 * Reads order_cart and payment.
 */
export async function orderWithPayment(sql: Sql, cartId: string, sessionId: string): Promise<string | null> {
  const orders = await sql(
    `select order_id, (select count(*) from payment where payment_session_id = $2 and canceled_at is null
       and deleted_at is null) > 0 as has_payment
     from order_cart where cart_id = $1 and deleted_at is null`,
    [cartId, sessionId],
  );
  const [order] = orders;
  return orders.length === 1 && order?.has_payment === true ? String(order.order_id) : null;
}

const OPEN_CHANGE = `select 1 from order_change
  where order_id = o.id and status in ('pending', 'requested') and deleted_at is null`;

/**
 * Whether an edit, return, exchange, claim or transfer of the order is open.
 *
 * Reads order and order_change.
 *
 * @param options.but changes of this kind don't count
 */
export async function hasOpenChange(
  sql: Sql,
  orderId: string,
  { but = null }: { but?: "credit_line" | null } = {},
): Promise<boolean> {
  const rows = await sql(
    `select 1 from "order" o where o.id = $1 and exists (${OPEN_CHANGE} and change_type is distinct from $2)`,
    [orderId, but],
  );
  return rows.length > 0;
}
