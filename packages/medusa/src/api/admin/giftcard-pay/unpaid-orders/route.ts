import { readOrderNames } from "../../../../medusa-tables/orders.js";
import { listRefused } from "../../../../recovery/pending-cancellations.js";
import { adminRoute, readPage } from "../admin-route.js";

/** Lists orders that nobody paid and that aren't canceled by themselves: `?limit=&offset=`. */
export const GET = adminRoute(async ({ sql, req }) => {
  const page = readPage(req, 100);
  const { orders, count } = await listRefused(sql, page);
  const names = await readOrderNames(
    sql,
    orders.map(({ orderId }) => orderId),
  );
  return {
    orders: orders.map((order) => ({ ...order, orderName: names[order.orderId] ?? null })),
    count,
    ...page,
  };
});
