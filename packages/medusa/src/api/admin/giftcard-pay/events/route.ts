import { countEvents, type EventFilter, eventFilters, listEvents } from "../../../../events/event-list.js";
import { serviceOf } from "../../../../events/push.js";
import { adminRoute, readPage, readText } from "../admin-route.js";

/**
 * The shop's events: `?filter=missing|changed|failing&q=title&limit=&offset=`, with how many each filter has. In a shop that
 * sells no shows it says so, and nothing else.
 */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const { settings, engine } = giftcard;
  if (!settings.events) return { isOn: false as const };
  const filter = (readText(req, "filter") ?? "all") as EventFilter;
  if (!eventFilters.includes(filter)) throw new RangeError(`filter is one of ${eventFilters.join(", ")}.`);
  const service = serviceOf(giftcard);
  const query = { filter, text: (readText(req, "q") ?? "").slice(0, 200), ...readPage(req, 50) };
  return {
    isOn: true as const,
    environment: engine.environment,
    isAutomatic: settings.events.isAutomatic,
    counts: await countEvents(sql, service),
    ...(await listEvents(sql, service, query)),
  };
});
