import { resumeCancels } from "../../../../../recovery/cancel-limit.js";
import { adminRoute, notOpen, readActor } from "../../admin-route.js";

/** A person's decision that unpaid orders are canceled again by themselves. Who decided is written down. */
export const POST = adminRoute(async ({ sql, req }) => {
  if (await resumeCancels(sql, await readActor(req))) return { isStopped: false };
  throw notOpen("Automatic cancels aren't stopped (any more).");
});
