import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";

/** Automatic cancels stand still until a person lets them go on. */
export interface CancelStop {
  readonly stoppedAt: Date;
  /** Orders that would be canceled next. */
  readonly waiting: number;
}

/** How many orders one run of recovery may still cancel. */
export interface CancelBudget {
  left: number;
}

/** @returns null while orders are canceled by themselves */
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
 * Lets automatic cancels go on: those that waited are canceled by the next run, however many they are.
 *
 * @param actor who decided, as it is written down
 * @returns false when they don't stand still (any more)
 */
export async function resumeCancels(sql: Sql, actor: string): Promise<boolean> {
  const rows = await sql(
    "update giftcard_cancel_stop set resumed_at = now(), resumed_by = $1 where resumed_at is null returning 1",
    [actor],
  );
  return rows.length === 1;
}

/**
 * Whether this order may be canceled by itself now. So many at once that the run's limit is passed mean that something
 * else is wrong: then all automatic cancels stop, and say so.
 *
 * @param budget of the run of recovery; left out where somebody told of this one order
 */
export async function mayCancel(
  container: MedusaContainer,
  orderId: string,
  budget?: CancelBudget,
): Promise<boolean> {
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
      "has to look at them, and to let it go on, on the admin's page Gift cards";
    container.resolve(ContainerRegistrationKeys.LOGGER).error(text);
    announcer.cancelsStopped();
  }
  return false;
}
