import { publish, publishReady } from "../../../../../events/publish.js";
import { pushNow } from "../../../../../events/push.js";
import { refreshEvents } from "../../../../../events/refresh.js";
import { readActor } from "../../admin-route.js";
import { eventRoute, readKeys } from "../../event-route.js";

/**
 * Publishes `{ keys: [...] }`, and sends what the issuer hasn't got. `{ all: true }` publishes all that nobody has
 * published yet, or only where another service was the issuer, and in which nothing is missing; the shop sends them by itself.
 */
export const POST = eventRoute(async ({ req }) => {
  const actor = await readActor(req);
  if ((req.body as { all?: unknown } | null)?.all !== true)
    return publish(req.scope, readKeys(req.body), actor);
  // What is sent can't be taken back: nothing goes as it was a minute ago.
  await refreshEvents(req.scope);
  const published = await publishReady(req.scope, actor);
  // At once, and beside the answer: a page needn't wait for the next minute.
  void pushNow(req.scope);
  return { published, refused: [] };
});
