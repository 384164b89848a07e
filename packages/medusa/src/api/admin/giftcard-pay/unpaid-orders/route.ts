import { listRefused } from "../../../../recovery/pending-cancellations.js";
import { adminRoute, readPage, withOrderNames } from "../admin-route.js";

/** Lists unpaid orders that need a person's decision: `?limit=&offset=`. */
export const GET = adminRoute(async ({ sql, req }) => {
  const page = readPage(req, 100);
  const { orders, count } = await listRefused(sql, page);
  return { orders: await withOrderNames(sql, orders), count, ...page };
});
