import { feedRoute } from "../feed-route.js";

/** The calendar to subscribe to. */
export const GET = feedRoute(async ({ productUrl, organiser }, timeZones) => {
  // Loaded on demand: it brings a library of time zones.
  const { iCalendar } = await import("@giftcard-pay/events/icalendar");
  const { hostname: domain } = new URL(productUrl.replaceAll(/[{}]/g, ""));
  return iCalendar({ name: organiser ?? domain, at: new Date(), domain, timeZones });
});
