import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import { refusal, withReasons } from "../errors.js";
import type { Scan } from "../medusa-tables/scan.js";
import type { UnpaidOrder, UnpaidReason } from "../medusa-tables/unpaid-orders.js";
import { hasRows, readRow, readRows } from "../rows.js";

/**
 * Records that an order is to be canceled, before anything of it is. A cancellation that stops half-way is found by this
 * record alone.
 * @returns why the order ends. A broken promise to pay later stays broken
 */
export async function notePendingCancellation(
  sql: Sql,
  { orderId, cartId, reason }: UnpaidOrder,
): Promise<UnpaidReason> {
  const [row] = await sql(
    `insert into giftcard_unpaid_order as known (order_id, cart_id, reason) values ($1, $2, $3)
     on conflict (order_id) do update set cart_id = excluded.cart_id,
       reason = case known.reason when 'unpaid' then excluded.reason else known.reason end
     returning reason`,
    [orderId, cartId, reason],
  );
  return row?.reason as UnpaidReason;
}

/** Deletes the record of an order that is paid, or deleted. */
export async function forgetPendingCancellation(sql: Sql, orderId: string): Promise<void> {
  await sql("delete from giftcard_unpaid_order where order_id = $1", [orderId]);
}

/** Records that the order is canceled. It is watched for another day: a stalled completion may resume and pay it. */
export async function noteCanceled(sql: Sql, orderId: string): Promise<void> {
  await sql("update giftcard_unpaid_order set canceled_at = now() where order_id = $1 and canceled_at is null", [
    orderId,
  ]);
  await sql("delete from giftcard_unpaid_order where order_id = $1 and canceled_at < now() - interval '1 day'", [
    orderId,
  ]);
}

/** Finds orders with a recorded cancellation, also those that need a person: what blocked them may be gone by now. */
export const findPendingCancellations = ({ sql, only }: Scan): Promise<UnpaidOrder[]> =>
  readRows(
    sql,
    `select order_id as "orderId", cart_id as "cartId", reason from giftcard_unpaid_order
     where $1::text is null or order_id = $1 order by order_id`,
    [only],
  );

/** A stop of automatic cancels, until a person resumes them. */
export interface CancelStop {
  readonly stoppedAt: Date;
  readonly waiting: number;
}

/** How many orders one run of recovery may still cancel. */
export interface CancelBudget {
  left: number;
}

/** Reads the stop of automatic cancels; null if they aren't stopped. */
export const readCancelStop = (sql: Sql): Promise<CancelStop | null> =>
  readRow(
    sql,
    `select stopped_at as "stoppedAt", (select count(*) from giftcard_job where kind = 'cancel_order' and exempted_at is null
       and why @> '[{"code": "cancelsStopped"}]')::integer as waiting
     from giftcard_cancel_stop where resumed_at is null`,
    [],
  );

/**
 * Resumes automatic cancels. The next run cancels all orders that have waited, however many they are.
 * @returns false if they aren't stopped (any more)
 */
export const resumeCancels = (sql: Sql, actor: string): Promise<boolean> =>
  hasRows(
    sql,
    "update giftcard_cancel_stop set resumed_at = now(), resumed_by = $1 where resumed_at is null returning 1",
    [actor],
  );

/**
 * Takes the order's place in the limit of cancels. If more orders are unpaid at once than one run may cancel, something
 * else is probably wrong: all automatic cancels stop, and that is reported.
 * @param budget the budget of the recovery run; omitted outside of one
 * @returns how many places it takes: 0 if a person has resumed cancels since the order was found
 * @throws {MedusaError} if cancels are stopped: the order waits for a person
 */
export async function takePlace(container: MedusaContainer, orderId: string, budget?: CancelBudget): Promise<number> {
  const { sql, announcer, logger } = contextOf(container);
  const [row] = await sql(
    `select (select count(*) from giftcard_cancel_stop where resumed_at is null) > 0 as is_stopped,
       found_at <= (select max(resumed_at) from giftcard_cancel_stop) as is_allowed
     from giftcard_unpaid_order where order_id = $1`,
    [orderId],
  );
  if (row?.is_stopped === false) {
    if (!budget || row.is_allowed === true) return 0;
    if (budget.left > 0) {
      budget.left -= 1;
      return 1;
    }
    const isNew = "insert into giftcard_cancel_stop default values on conflict do nothing returning 1";
    if (await hasRows(sql, isNew, [])) {
      logger.error(
        "giftcard recovery has stopped canceling unpaid orders: there are more than maxCancelsPerRun of them. A person " +
          "must check them, and resume cancels on the admin's page Gift cards",
      );
      announcer.cancelsStopped();
    }
  }
  throw withReasons(refusal, [{ code: "cancelsStopped" }]);
}
