import { showAttempt } from "../../attempt-view.js";
import { adminRoute } from "../../desk.js";

/** The attempts of an order, oldest first, and the environment that its gift cards are of. */
export const GET = adminRoute(async ({ giftcard, req }) => {
  const { journal, environment } = giftcard.engine;
  const { attempts } = await journal.list({ orderIds: [String(req.params.id)], limit: 200 });
  const byTime = attempts.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  return { environment, attempts: byTime.map((attempt) => showAttempt(attempt)) };
});
