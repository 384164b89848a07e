import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";
import type { PlacedCart } from "./unpaid-orders.js";

/** An order that nobody paid and that is to be canceled, as far as that has got. */
export interface UnendedOrder extends PlacedCart {
  /** Whether a payment that settles later counts. */
  readonly mayBePending: boolean;
}

/** An unpaid order that Medusa refuses to cancel, so that a person has to. */
export interface RefusedOrder {
  readonly orderId: string;
  /** Why, in Medusa's words. */
  readonly reason: string;
  readonly foundAt: Date;
}

const sqlOf = (container: MedusaContainer) => container.resolve<GiftcardService>(GIFTCARD_MODULE).runSql;

/** Written before anything of the order is undone: what is half done is found by this alone. */
export async function noteUnended(
  container: MedusaContainer,
  { orderId, cartId, mayBePending }: UnendedOrder,
): Promise<void> {
  await sqlOf(container)(
    `insert into giftcard_unpaid_order (order_id, cart_id, may_be_pending) values ($1, $2, $3)
     on conflict (order_id) do update set may_be_pending = giftcard_unpaid_order.may_be_pending and excluded.may_be_pending`,
    [orderId, cartId, mayBePending],
  );
}

/** The order is paid, or gone. */
export async function forgetUnended(container: MedusaContainer, orderId: string): Promise<void> {
  const statement = "delete from giftcard_unpaid_order where order_id = $1 and kept_at is null";
  await sqlOf(container)(statement, [orderId]);
}

/** The order is canceled. It is looked at for a day more: a completion that was frozen may go on and have it paid. */
export async function noteCanceled(container: MedusaContainer, orderId: string): Promise<void> {
  const run = sqlOf(container);
  await run(
    "update giftcard_unpaid_order set canceled_at = now() where order_id = $1 and canceled_at is null",
    [orderId],
  );
  await run(
    "delete from giftcard_unpaid_order where order_id = $1 and canceled_at < now() - interval '1 day'",
    [orderId],
  );
}

/** Orders whose end was begun, those that wait for a person among them: what keeps them may be gone by now. */
export async function findUnended(container: MedusaContainer): Promise<UnendedOrder[]> {
  const rows = await sqlOf(container)(
    `select order_id, cart_id, may_be_pending from giftcard_unpaid_order where kept_at is null
     order by canceled_at is not null, found_at limit 200`,
    [],
  );
  return rows.map((row) => ({
    orderId: String(row.order_id),
    cartId: String(row.cart_id),
    mayBePending: row.may_be_pending === true,
  }));
}

/** Hands the order to a person, and says so in the log, once. */
export async function handToPerson(
  container: MedusaContainer,
  orderId: string,
  reason: string,
): Promise<void> {
  const told = await sqlOf(container)(
    "update giftcard_unpaid_order set refusal = $2, refused_at = now() where order_id = $1 and refused_at is null returning 1",
    [orderId, reason],
  );
  if (told.length === 0) return;
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  logger.warn(`giftcard order=${orderId} needs attention: it is unpaid and can't be canceled: ${reason}`);
}

/** The orders that wait for a person, oldest first. */
export async function listRefused(container: MedusaContainer): Promise<RefusedOrder[]> {
  const rows = await sqlOf(container)(
    `select order_id, refusal, found_at from giftcard_unpaid_order where refused_at is not null and kept_at is null
       and canceled_at is null order by found_at limit 100`,
    [],
  );
  return rows.map((row) => ({
    orderId: String(row.order_id),
    reason: String(row.refusal),
    foundAt: new Date(row.found_at as string),
  }));
}

/**
 * A person's decision that the order stays as it is; recovery leaves it alone from then on.
 *
 * @param actor who decided, as it is written down
 * @returns false when it doesn't wait for a person (any more)
 */
export async function keepOrder(
  container: MedusaContainer,
  orderId: string,
  actor: string,
): Promise<boolean> {
  const rows = await sqlOf(container)(
    `update giftcard_unpaid_order set kept_by = $2, kept_at = now()
     where order_id = $1 and refused_at is not null and kept_at is null returning 1`,
    [orderId, actor],
  );
  return rows.length === 1;
}

/** Whether a person decided that the order stays as it is. */
export async function isKept(container: MedusaContainer, orderId: string): Promise<boolean> {
  const statement = "select 1 from giftcard_unpaid_order where order_id = $1 and kept_at is not null";
  return (await sqlOf(container)(statement, [orderId])).length === 1;
}
