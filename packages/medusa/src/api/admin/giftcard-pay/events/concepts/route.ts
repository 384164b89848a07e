import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import { askIssuer, eventRoute } from "../../event-route.js";

const conceptSchema = z.strictObject({
  representative: z.string().trim().min(1).max(150),
  register: z.string().trim().min(1).max(150),
  providerId: z.number().int().min(1),
});

/** Makes an event concept at the issuer. It is sent once: where no answer comes, look at the list first. */
export const POST = eventRoute(async ({ giftcard: { client }, req }) => {
  const { data } = conceptSchema.safeParse(req.body);
  if (!data)
    throw new MedusaError(
      MedusaError.Types.INVALID_DATA,
      "Give representative and register (at most 150 characters) and providerId.",
    );
  return { concept: await askIssuer(client.createEventConcept(data)) };
});
