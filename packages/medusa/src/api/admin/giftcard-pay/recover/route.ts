import { countRetried, makeRetriesDue } from "../../../../journal-tables/charges.js";
import { countFailingJobs } from "../../../../recovery/failing-jobs.js";
import { recoverNow } from "../../../../recovery/recovery.js";
import { workBulkRefunds } from "../../../../refunds/bulk-work.js";
import { adminRoute, showCharge } from "../admin-route.js";

/**
 * Runs recovery now, like the scheduled job does every minute, but without waiting until the next attempt of a charge is
 * due. `waiting` is the number of charges and jobs that recovery will retry after that.
 */
export const POST = adminRoute(async ({ sql, req }) => {
  await makeRetriesDue(sql);
  const { charges, canceledOrderIds, failed } = await recoverNow(req.scope);
  void workBulkRefunds(req.scope).catch(() => {});
  const waiting = (await countRetried(sql)) + (await countFailingJobs(sql));
  return { charges: charges.map(showCharge), canceledOrderIds, failed, waiting };
});
