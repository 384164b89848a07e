import type { ExecArgs } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import { createAdmin } from "../seed/admin";
import { createCatalogue } from "../seed/catalogue";
import { createMarket } from "../seed/market";
import { createPromotions } from "../seed/promotions";
import { createShipping } from "../seed/shipping";
import { createTaxes } from "../seed/taxes";

/**
 * Fills an empty shop with the euro, a region with VAT, shipping, shows, merchandise and promotion codes.
 * `medusa db:migrate` runs it once per database. `medusa exec` can run it again, without effect.
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
  const places = { salesChannelId, stockLocationId, shippingProfileId };
  const { ticketTypeId } = await createCatalogue(container, places);
  await createTaxes(container, ticketTypeId);
  await createPromotions(container);
  await createAdmin(container, process.env);
  logger.info("Seeded the shop.");
}
