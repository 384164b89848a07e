import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context.js";
import { compareWithIssuer } from "../issuer/compare.js";

/** Checks each hour whether the issuer has the shop's changes. */
export default async function compareEvents(container: MedusaContainer): Promise<void> {
  const context = contextOf(container);
  await compareWithIssuer(context).catch((error) =>
    context.logger.warn(`giftcard events: not compared with the issuer's list, until the next hour: ${error}`),
  );
}

export const config = { name: "giftcard-events-compare", schedule: "23 * * * *" };
