import { listFailing } from "../../../../recovery/failing-jobs.js";
import { adminRoute, readPage, withOrderNames } from "../admin-route.js";

/** Lists the jobs that keep failing, the oldest first: `?limit=&offset=`. */
export const GET = adminRoute(async ({ sql, req }) => {
  const page = readPage(req, 100);
  const { jobs, count } = await listFailing(sql, page);
  return { jobs: await withOrderNames(sql, jobs), count, ...page };
});
