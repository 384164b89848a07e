import type { ExecArgs } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import { createAdmin } from "../seed/admin";
import { createCatalogue } from "../seed/catalogue";
import { createMarket } from "../seed/market";
import { createShipping } from "../seed/shipping";

/**
 * Fills an empty shop: euro, one region, shipping and three events to buy.
 * `medusa db:migrate` runs it once per database; `medusa exec` may run it again, which then changes nothing.
 */
export default async function seed({ container }: ExecArgs): Promise<void> {
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  const regions = await container.resolve(Modules.REGION).listRegions({}, { take: 1 });
  if (regions.length > 0) {
    logger.info("The shop has a region already: nothing to seed.");
    return;
  }
  const { salesChannelId } = await createMarket(container);
  const { stockLocationId, shippingProfileId } = await createShipping(container, salesChannelId);
  await createCatalogue(container, { salesChannelId, stockLocationId, shippingProfileId });
  await createAdmin(container, process.env);
  logger.info("Seeded the shop.");
}
