import { z } from "@medusajs/framework/zod";
import { storable } from "../../../../context.js";
import { countEvents, eventFilters, listEvents } from "../../../../events/event-list.js";
import { adminRoute } from "../admin-route.js";

const query = z.object({
  filter: z.enum(eventFilters).default("all"),
  q: storable.default("").transform((text) => text.slice(0, 200)),
  limit: z.coerce.number().int().min(0).max(200).default(50),
  offset: z.coerce.number().int().min(0).max(1_000_000_000).default(0),
});

/** Lists the shop's events, with the number of events of each filter. */
export const GET = adminRoute(query, async ({ context, input }) => {
  const { sql, issuer, client, options } = context;
  const { q: text, ...page } = input;
  return {
    environment: client.environment,
    isAutomatic: options.publish === "automatic",
    counts: await countEvents(sql, issuer),
    ...(await listEvents(sql, issuer, { ...page, text })),
  };
});
