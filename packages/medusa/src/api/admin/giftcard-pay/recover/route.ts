import { recoverNow } from "../../../../workflows/recovery.js";
import { showAttempt } from "../attempt-view.js";
import { adminRoute } from "../desk.js";

/** Runs recovery now, as the scheduled job does each minute. */
export const POST = adminRoute(async ({ req }) => {
  const { attempts, canceledOrderIds } = await recoverNow(req.scope);
  return { attempts: attempts.map((attempt) => showAttempt(attempt)), canceledOrderIds };
});
