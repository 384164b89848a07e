import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { PATIENCE_MS } from "../cart/cart-turn.js";
import { contextOf } from "../context/context.js";
import { turnOfOrder } from "../medusa-tables/carts.js";
import { type BegunCreditLine, findBegunCreditLines } from "../medusa-tables/credit-lines.js";
import { scanOnly } from "../medusa-tables/scan.js";

/** Ends a credit line that was begun, in its turn at the order. */
export async function endCreditLine(container: MedusaContainer, { orderId }: BegunCreditLine): Promise<void> {
  const { leases, sql } = contextOf(container);
  const release = await leases.wait(await turnOfOrder(sql, orderId), PATIENCE_MS);
  try {
    await endCreditLines(container, orderId);
  } finally {
    await release();
  }
}

/**
 * Ends the credit lines of an order that were begun: they are confirmed as Medusa would have, or taken back where they
 * don't say yet what is waived.
 *
 * @returns false where one is so new that somebody may be at it
 */
export async function endCreditLines(container: MedusaContainer, orderId: string): Promise<boolean> {
  const { sql, settings } = contextOf(container);
  const orders = container.resolve(Modules.ORDER);
  const scan = scanOnly(sql, orderId);
  for (const { changeId, isWhole } of await findBegunCreditLines({ ...scan, leaseMs: settings.leaseMs })) {
    if (isWhole) await orders.confirmOrderChange(changeId);
    else await orders.deleteOrderChanges([changeId]);
  }
  return (await findBegunCreditLines(scan)).length === 0;
}
