import { z } from "@medusajs/framework/zod";
import { adminRoute } from "../../admin-route.js";

/** Lists the issuer's ticketing providers. */
export const GET = adminRoute(z.unknown(), async ({ context: { client } }) => ({
  providers: await client.listProviders(),
}));
