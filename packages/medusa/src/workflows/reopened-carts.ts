import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";
import { LOOKED } from "./review.js";

/**
 * Carts with a paid order that look open: where two processes completed one at once, Medusa opened it again when it
 * undid the second order.
 *
 * @param after where this run's page of the review begins
 * @param graceMs how long a completion may take
 */
export async function findReopened(
  container: MedusaContainer,
  after: string,
  graceMs: number,
): Promise<{ orderId: string; cartId: string }[]> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const rows = await runSql(
    `with ${LOOKED} select distinct a.order_id, a.cart_id from looked a
     cross join lateral (select created_at from "order" where id = a.order_id and deleted_at is null offset 0) placed
     cross join lateral (select 1 from cart where id = a.cart_id and completed_at is null and deleted_at is null offset 0) open
     where a.state in ('committed', 'captured') and placed.created_at < now() - ($2::float8 * interval '1 millisecond')
     limit 100`,
    [after, graceMs],
  );
  return rows.map((row) => ({ orderId: String(row.order_id), cartId: String(row.cart_id) }));
}

/** Closes the cart as its completion had. */
export async function closeCart(container: MedusaContainer, cartId: string): Promise<void> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const [now] = await runSql("select now() as now", []);
  await container.resolve(Modules.CART).updateCarts(cartId, { completed_at: now?.now } as never);
}
