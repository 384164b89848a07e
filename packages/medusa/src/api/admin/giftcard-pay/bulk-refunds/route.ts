import { MedusaError } from "@medusajs/framework/utils";
import { planBulkRefund } from "../../../../refunds/bulk-plan.js";
import { readBulkRefunds } from "../../../../refunds/bulk-store.js";
import { beginBulkRefund, workBulkRefunds } from "../../../../refunds/bulk-work.js";
import { readSold } from "../../../../refunds/sold-input.js";
import { adminRoute, readActor } from "../admin-route.js";

/** Refunds of many orders, the newest first, with how far they have come. */
export const GET = adminRoute(async ({ sql }) => ({ bulkRefunds: await readBulkRefunds(sql) }));

/**
 * Begins one: `{ sold, title, amountCents }`, as the plan has them. It is refused where the plan would be another one by
 * now. The shop goes on with it by itself.
 */
export const POST = adminRoute(async ({ sql, req }) => {
  const { sold, title, amountCents } = (req.body ?? {}) as Record<string, unknown>;
  const plan = await planBulkRefund(req.scope, readSold(sold));
  const isConfirmed = plan.title === title && plan.amountCents === amountCents && plan.orders.length > 0;
  const id = isConfirmed ? await beginBulkRefund(req.scope, plan, await readActor(req)) : null;
  if (id === null) {
    const message = "The plan isn't what was confirmed (any more). Look at it again. Nothing was refunded.";
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "amount_changed");
  }
  // At once, and beside the answer: a page needn't wait for the next minute.
  void workBulkRefunds(req.scope, { only: id }).catch(() => {});
  return { bulkRefund: (await readBulkRefunds(sql, { id }))[0] };
});
