import { adminRoute, showCharges } from "../../admin-route.js";

/** Reads the charges of an order, oldest first, and their environment. */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const { journal, environment } = giftcard.engine;
  const { charges } = await journal.list({ orderIds: [String(req.params.id)], limit: 1000 });
  const byTime = charges.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a.position - b.position);
  return { environment, ...(await showCharges(sql, byTime)) };
});
