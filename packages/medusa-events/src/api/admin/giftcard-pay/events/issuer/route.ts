import { z } from "@medusajs/framework/zod";
import { adminRoute } from "../../admin-route.js";

/** Only the newest concepts are shown. */
const MAX_CONCEPTS = 500;

/** Lists the issuer's ticketing providers, and the company's event concepts. */
export const GET = adminRoute(z.unknown(), async ({ context: { client } }) => {
  const [providers, concepts] = await Promise.all([client.listProviders(), client.listEventConcepts()]);
  return { providers, concepts: concepts.slice(-MAX_CONCEPTS) };
});
