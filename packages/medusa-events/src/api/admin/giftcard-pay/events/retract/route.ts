import { z } from "@medusajs/framework/zod";
import { retractEvents } from "../../../../../events/event-store.js";
import { adminRoute, keys } from "../../admin-route.js";

const body = z.strictObject({ keys, state: z.enum(["canceled", "withdrawn"]) });

/** Cancels or withdraws published events in the feed. */
export const POST = adminRoute(body, async ({ context, input }) => ({
  retracted: await retractEvents(context.sql, input.keys, input.state),
}));
