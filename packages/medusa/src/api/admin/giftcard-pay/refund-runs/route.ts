import { MedusaError } from "@medusajs/framework/utils";
import { planRun } from "../../../../refunds/run-plan.js";
import { readRuns } from "../../../../refunds/run-store.js";
import { beginRun, workRuns } from "../../../../refunds/run-work.js";
import { readSold } from "../../../../refunds/sold-input.js";
import { adminRoute, readActor } from "../admin-route.js";

/** Refunds of many orders, the newest first, with how far they have come. */
export const GET = adminRoute(async ({ run }) => ({ runs: await readRuns(run) }));

/**
 * Begins one: `{ sold, title, amountCents }`, as the plan has them. It is refused where the plan would be another one by
 * now. The shop goes on with it by itself.
 */
export const POST = adminRoute(async ({ run, req }) => {
  const { sold, title, amountCents } = (req.body ?? {}) as Record<string, unknown>;
  const plan = await planRun(req.scope, readSold(sold));
  const isConfirmed = plan.title === title && plan.amountCents === amountCents && plan.orders.length > 0;
  const id = isConfirmed ? await beginRun(req.scope, plan, await readActor(req)) : null;
  if (id === null) {
    const message = "The plan isn't what was confirmed (any more). Look at it again. Nothing was refunded.";
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "amount_changed");
  }
  // At once, and beside the answer: a page needn't wait for the next minute.
  void workRuns(req.scope, { only: id }).catch(() => {});
  return { run: (await readRuns(run, { id }))[0] };
});
