import { resumeCancels } from "../../../../../recovery/pending-cancellations.js";
import { adminRoute, notOpen, readActor } from "../../admin-route.js";

/** Resumes automatic cancels of unpaid orders, and records who decided. */
export const POST = adminRoute(async ({ sql, req }) => {
  if (await resumeCancels(sql, await readActor(req))) return { isStopped: false };
  throw notOpen("notStopped");
});
