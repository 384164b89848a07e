import { refusal, withReasons } from "../../../../errors.js";
import { planBulkRefund, readWish } from "../../../../refunds/bulk-plan.js";
import { beginBulkRefund, readBulkRefunds } from "../../../../refunds/bulk-store.js";
import { workBulkRefunds } from "../../../../refunds/bulk-work.js";
import { adminRoute, readActor } from "../admin-route.js";

export const GET = adminRoute(async ({ sql }) => ({ bulkRefunds: await readBulkRefunds(sql) }));

/**
 * Begins a bulk refund: `{ sold, title, amountCents, captureCents }`, as in its plan. `captureCents` may be left out if it
 * is 0. Refused if the plan has changed since. Jobs then make the refunds in the background.
 */
export const POST = adminRoute(async ({ sql, req }) => {
  const { sold, title, amountCents, captureCents = 0 } = (req.body ?? {}) as Record<string, unknown>;
  const plan = await planBulkRefund(req.scope, readWish({ ...(sold as object), capture: captureCents !== 0 }));
  const isSame = plan.title === title && plan.amountCents === amountCents && plan.captureCents === captureCents;
  const isConfirmed = isSame && plan.orders.length > 0;
  const id = isConfirmed ? await beginBulkRefund(sql, plan, await readActor(req)) : null;
  if (id === null)
    throw withReasons((message) => refusal(message, "amount_changed"), [{ code: "planChanged" }, { code: "nothing" }]);
  // Start now, in the background, so that the page needn't wait for the next minute.
  void workBulkRefunds(req.scope, { only: id }).catch(() => {});
  return { bulkRefund: (await readBulkRefunds(sql, { id }))[0] };
});
