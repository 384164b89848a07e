import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import {
  createApiKeysWorkflow,
  createRegionsWorkflow,
  createSalesChannelsWorkflow,
  createStoresWorkflow,
  linkSalesChannelsToApiKeyWorkflow,
} from "@medusajs/medusa/core-flows";
import { COUNTRIES } from "./taxes";

/**
 * Creates the euro store, its sales channel with a publishable key, and the region "Europe", which offers every
 * installed payment provider. Prices include tax.
 */
export async function createMarket(container: MedusaContainer): Promise<{ salesChannelId: string }> {
  const { result: channels } = await createSalesChannelsWorkflow(container).run({
    input: { salesChannelsData: [{ name: "Webshop" }] },
  });
  const salesChannelId = (channels[0] as { id: string }).id;
  await createStoresWorkflow(container).run({
    input: {
      stores: [
        {
          name: "Night Owl Tickets",
          supported_currencies: [{ currency_code: "eur", is_default: true, is_tax_inclusive: true }],
          default_sales_channel_id: salesChannelId,
        },
      ],
    },
  });
  const { result: keys } = await createApiKeysWorkflow(container).run({
    input: { api_keys: [{ title: "Storefront", type: "publishable", created_by: "" }] },
  });
  await linkSalesChannelsToApiKeyWorkflow(container).run({
    input: { id: (keys[0] as { id: string }).id, add: [salesChannelId] },
  });
  await createRegion(container);
  return { salesChannelId };
}

async function createRegion(container: MedusaContainer): Promise<void> {
  const providers = await container.resolve(Modules.PAYMENT).listPaymentProviders({ is_enabled: true });
  await createRegionsWorkflow(container).run({
    input: {
      regions: [
        {
          name: "Europe",
          currency_code: "eur",
          countries: COUNTRIES,
          payment_providers: providers.map((provider) => provider.id),
          is_tax_inclusive: true,
        },
      ],
    },
  });
}
