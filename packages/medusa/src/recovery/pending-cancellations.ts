import type { Sql } from "@giftcard-pay/checkout/plugin";
import { everyPage } from "../medusa-tables/page.js";
import { toPlacedCart } from "../medusa-tables/placed-cart.js";
import type { Scan } from "../medusa-tables/scan.js";
import type { UnpaidOrder, UnpaidReason } from "../medusa-tables/unpaid-orders.js";

/** An unpaid order that waits for a person. */
export interface RefusedOrder {
  readonly orderId: string;
  /** Why it isn't canceled by itself, in words. */
  readonly refusal: string;
  readonly foundAt: Date;
}

/**
 * Written before anything of the order is canceled: what is half done is found by this alone.
 *
 * @returns why the order ends: once a promise to pay later is broken, it stays broken
 */
export async function notePendingCancellation(
  sql: Sql,
  { orderId, cartId, reason }: UnpaidOrder,
): Promise<UnpaidReason> {
  const [row] = await sql(
    `insert into giftcard_unpaid_order as known (order_id, cart_id, reason) values ($1, $2, $3)
     on conflict (order_id) do update
       set reason = case known.reason when 'unpaid' then excluded.reason else known.reason end
     returning reason`,
    [orderId, cartId, reason],
  );
  return row?.reason as UnpaidReason;
}

/** The order is paid, or gone. */
export async function forgetPendingCancellation(sql: Sql, orderId: string): Promise<void> {
  await sql("delete from giftcard_unpaid_order where order_id = $1 and kept_at is null", [orderId]);
}

/** The order is canceled. It is watched for a day more: a completion that was frozen may go on and have it paid. */
export async function noteCanceled(sql: Sql, orderId: string): Promise<void> {
  await sql(
    "update giftcard_unpaid_order set canceled_at = now() where order_id = $1 and canceled_at is null",
    [orderId],
  );
  await sql(
    "delete from giftcard_unpaid_order where order_id = $1 and canceled_at < now() - interval '1 day'",
    [orderId],
  );
}

/** Orders whose end was begun, those that wait for a person among them: what keeps them may be gone by now. */
export async function findPendingCancellations({ sql, only }: Scan): Promise<UnpaidOrder[]> {
  const read = (after: string, limit: number) =>
    sql(
      `select order_id, cart_id, reason from giftcard_unpaid_order
       where kept_at is null and order_id > $1 and ($3::text is null or order_id = $3) order by order_id limit $2`,
      [after, limit, only],
    );
  const rows = await everyPage(read, (row) => String(row.order_id));
  return rows.map((row) => ({ ...toPlacedCart(row), reason: row.reason as UnpaidReason }));
}

/**
 * Hands the order to a person.
 *
 * @param refusal why it isn't canceled by itself, in words
 * @returns whether it is news
 */
export async function handToPerson(sql: Sql, orderId: string, refusal: string): Promise<boolean> {
  const told = await sql(
    `update giftcard_unpaid_order set refusal = $2, refused_at = coalesce(refused_at, now())
     where order_id = $1 and refusal is distinct from $2 returning 1`,
    [orderId, refusal],
  );
  return told.length > 0;
}

const WAITING = "refused_at is not null and kept_at is null and canceled_at is null";

/** The orders that wait for a person, oldest first, and how many there are. */
export async function listRefused(
  sql: Sql,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ orders: RefusedOrder[]; count: number }> {
  const rows = await sql(
    `select order_id, refusal, found_at from giftcard_unpaid_order where ${WAITING}
     order by found_at, order_id limit $1 offset $2`,
    [limit, offset],
  );
  const orders = rows.map((row) => ({
    orderId: String(row.order_id),
    refusal: String(row.refusal),
    foundAt: new Date(row.found_at as string),
  }));
  const [counted] = await sql(`select count(*) from giftcard_unpaid_order where ${WAITING}`, []);
  return { orders, count: Number(counted?.count) };
}

/**
 * A person's decision that the order stays as it is; recovery leaves it alone from then on.
 *
 * @param actor who decided, as it is written down
 * @returns false when it doesn't wait for a person (any more)
 */
export async function keepOrder(sql: Sql, orderId: string, actor: string): Promise<boolean> {
  const rows = await sql(
    `update giftcard_unpaid_order set kept_by = $2, kept_at = now() where order_id = $1 and ${WAITING} returning 1`,
    [orderId, actor],
  );
  return rows.length === 1;
}

/** Whether a person decided that the order stays as it is. */
export async function isKept(sql: Sql, orderId: string): Promise<boolean> {
  const statement = "select 1 from giftcard_unpaid_order where order_id = $1 and kept_at is not null";
  return (await sql(statement, [orderId])).length === 1;
}
