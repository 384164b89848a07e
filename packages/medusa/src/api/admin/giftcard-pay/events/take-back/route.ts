import { takeBack } from "../../../../../events/event-store.js";
import { eventRoute, readKeys } from "../../event-route.js";

/** Takes back events that were published: `{ keys: [...], state: "canceled" | "withdrawn" }`. The feed says so. */
export const POST = eventRoute(async ({ sql, req }) => {
  const keys = readKeys(req.body);
  const { state } = req.body as { state?: unknown };
  if (state !== "canceled" && state !== "withdrawn")
    throw new RangeError("state is canceled, where the show isn't held, or withdrawn.");
  return { takenBack: await takeBack(sql, keys, state) };
});
