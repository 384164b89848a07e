import { orderNamesOf } from "../../../../medusa-tables/orders.js";
import { listFailing } from "../../../../recovery/failing-jobs.js";
import { adminRoute, readPage, withOrderName } from "../admin-route.js";

/** Lists everything that keeps failing, jobs before charges, the oldest first: `?limit=&offset=`. */
export const GET = adminRoute(async ({ sql, req }) => {
  const page = readPage(req, 100);
  const { jobs, count } = await listFailing(sql, page);
  const names = await orderNamesOf(sql, jobs);
  return { jobs: jobs.map((job) => withOrderName(job, names)), count, ...page };
});
