import { z } from "@medusajs/framework/zod";
import { adminRoute } from "../../admin-route.js";

const body = z.strictObject({
  representative: z.string().trim().min(1).max(150),
  register: z.string().trim().min(1).max(150),
  providerId: z.number().int().min(1),
});

/** Creates an event concept at the issuer. It is sent once: after a lost response, check the list first. */
export const POST = adminRoute(body, async ({ context, input }) => ({
  concept: await context.client.createEventConcept(input),
}));
