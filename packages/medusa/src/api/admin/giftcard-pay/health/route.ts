import { readHealth } from "@giftcard-pay/checkout/plugin";
import { readCancelStop } from "../../../../recovery/cancel-limit.js";
import { countFailingJobs } from "../../../../recovery/failing-jobs.js";
import { listRefused } from "../../../../recovery/pending-cancellations.js";
import { listEuroRegions } from "../../../../reports/regions.js";
import { adminRoute } from "../admin-route.js";

/**
 * Reads the health of the service, the key, the clocks and the seals; open charges, failing jobs, unpaid orders that
 * need a person, and a stop of automatic cancels; which regions take gift cards; and whether the shop's processes, locks
 * and connections fit together.
 */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const { client, sealer } = giftcard;
  const { environment, journal } = giftcard.engine;
  const [health, failingJobs, { count: unpaidOrders }, cancelStop, regions, processes] = await Promise.all([
    readHealth({ environment, issuer: client, sealer, journal }),
    countFailingJobs(sql),
    listRefused(sql, { limit: 0, offset: 0 }),
    readCancelStop(sql),
    listEuroRegions(req.scope),
    giftcard.processes.read(),
  ]);
  return { ...health, failingJobs, unpaidOrders, cancelStop, regions, processes };
});
