import { orderNamesOf } from "../../../../medusa-tables/orders.js";
import { listRefused } from "../../../../recovery/pending-cancellations.js";
import { adminRoute, readPage, withOrderName } from "../admin-route.js";

/** Lists unpaid orders that need a person's decision: `?limit=&offset=`. */
export const GET = adminRoute(async ({ sql, req }) => {
  const page = readPage(req, 100);
  const { orders, count } = await listRefused(sql, page);
  const names = await orderNamesOf(sql, orders);
  return { orders: orders.map((order) => withOrderName(order, names)), count, ...page };
});
