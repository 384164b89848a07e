import { readOrderNames } from "../../../../medusa-tables/orders.js";
import { listFailing } from "../../../../recovery/failing-jobs.js";
import { adminRoute, readPage } from "../admin-route.js";

/** Lists what fails again and again, jobs before charges, the oldest first: `?limit=&offset=`. */
export const GET = adminRoute(async ({ sql, req }) => {
  const page = readPage(req, 100);
  const { jobs, count } = await listFailing(sql, page);
  const names = await readOrderNames(
    sql,
    jobs.flatMap(({ orderId }) => orderId ?? []),
  );
  const named = jobs.map((job) => ({
    ...job,
    orderName: job.orderId === null ? null : (names[job.orderId] ?? null),
  }));
  return { jobs: named, count, ...page };
});
