import { type EventFormat, writeEvents } from "@giftcard-pay/events";
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { contextOf, type EventsContext } from "../../context.js";
import { readPublicEvents } from "../../events/event-list.js";
import type { Settings } from "../../options.js";
import { refreshEvents } from "../../shows/refresh.js";
import { findHidden } from "../../shows/show-products.js";

/** Makes the format of a feed for events in these time zones. */
type FormatOf = (options: Settings, timeZones: readonly string[]) => Promise<EventFormat>;

/** Writes a feed. First it withdraws the events of products that are no longer published. */
async function writeFeed(context: EventsContext, formatOf: FormatOf): Promise<{ type: string; text: string }> {
  const { sql, options } = context;
  await refreshEvents(context, await findHidden(sql));
  const events = await readPublicEvents(sql);
  const format = await formatOf(options, [...new Set(events.map(({ timeZone }) => timeZone))]);
  let text = "";
  for await (const piece of writeEvents(events, format)) text += piece;
  return { type: format.mediaType, text };
}

/**
 * Makes the route of a public feed, which a page of any site may read. Requests that come while a feed is written share the
 * next one, so that a thousand of them cost no more than two.
 */
export function feedRoute(formatOf: FormatOf) {
  let running: Promise<unknown> = Promise.resolve();
  let next: ReturnType<typeof writeFeed> | undefined;
  const write = (context: EventsContext) => {
    next ??= running.then(() => {
      next = undefined;
      const feed = writeFeed(context, formatOf);
      running = feed.catch(() => {});
      return feed;
    });
    return next;
  };
  return async (req: MedusaRequest, res: MedusaResponse): Promise<void> => {
    const { type, text } = await write(contextOf(req.scope));
    res.set({ "Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=60", "Content-Type": type });
    res.status(200).send(text);
  };
}
