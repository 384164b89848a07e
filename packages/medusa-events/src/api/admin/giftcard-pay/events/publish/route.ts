import { z } from "@medusajs/framework/zod";
import { publish, publishReady, pushNow } from "../../../../../issuer/push.js";
import { refreshEvents } from "../../../../../shows/refresh.js";
import { adminRoute, keys, readActor } from "../../admin-route.js";

const body = z.union([z.strictObject({ all: z.literal(true) }), z.strictObject({ keys })]);

/** Publishes events, and sends them to the issuer; or publishes all complete events, which are sent in the background. */
export const POST = adminRoute(body, async ({ context, input, req }) => {
  const actor = await readActor(req);
  if ("keys" in input) return publish(context, input.keys, actor);
  // A sent event can't be changed later, so send the newest content.
  await refreshEvents(context);
  const published = await publishReady(context, actor);
  void pushNow(context);
  return { published, refused: [] };
});
