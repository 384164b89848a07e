import { readOrderNames } from "../../../../reports/books.js";
import { listRefused } from "../../../../workflows/unended-orders.js";
import { adminRoute } from "../desk.js";

/** Lists orders that nobody paid and that Medusa refuses to cancel. */
export const GET = adminRoute(async ({ run, req }) => {
  const orders = await listRefused(req.scope);
  const names = await readOrderNames(
    run,
    orders.map(({ orderId }) => orderId),
  );
  return { orders: orders.map((order) => ({ ...order, orderName: names[order.orderId] ?? null })) };
});
