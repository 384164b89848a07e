import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import { hasRows } from "../rows.js";

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
export async function readCancelStop(sql: Sql): Promise<CancelStop | null> {
  const [row] = await sql(
    `select stopped_at, (select count(*) from giftcard_unpaid_order
       where canceled_at is null and refused_at is null) as waiting
     from giftcard_cancel_stop where resumed_at is null`,
    [],
  );
  return row ? { stoppedAt: new Date(row.stopped_at as string), waiting: Number(row.waiting) } : null;
}

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
 * Tells whether recovery may cancel this order now. If more orders are unpaid at once than one run may cancel,
 * something else is probably wrong: all automatic cancels stop, and that is reported.
 * @param budget the budget of the recovery run; omitted if the request is about this one order
 */
export async function mayCancel(container: MedusaContainer, orderId: string, budget?: CancelBudget): Promise<boolean> {
  const { sql, announcer } = contextOf(container);
  const [row] = await sql(
    `select (select count(*) from giftcard_cancel_stop where resumed_at is null) > 0 as is_stopped,
       found_at <= (select max(resumed_at) from giftcard_cancel_stop) as is_allowed
     from giftcard_unpaid_order where order_id = $1`,
    [orderId],
  );
  if (!row || row.is_stopped === true) return false;
  if (!budget || row.is_allowed === true) return true;
  if (budget.left > 0) {
    budget.left -= 1;
    return true;
  }
  const stopped = await sql(
    "insert into giftcard_cancel_stop default values on conflict do nothing returning stopped_at",
    [],
  );
  if (stopped.length > 0) {
    const text =
      "giftcard recovery has stopped canceling unpaid orders: there are more than maxCancelsPerRun of them. A person " +
      "must check them, and resume cancels on the admin's page Gift cards";
    contextOf(container).logger.error(text);
    announcer.cancelsStopped();
  }
  return false;
}
