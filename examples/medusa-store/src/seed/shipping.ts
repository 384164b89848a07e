import type { FulfillmentWorkflow, MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import {
  createShippingOptionsWorkflow,
  createShippingProfilesWorkflow,
  createStockLocationsWorkflow,
  linkSalesChannelsToStockLocationWorkflow,
} from "@medusajs/medusa/core-flows";
import { COUNTRIES } from "./taxes";

const PROVIDER = "manual_manual";
const SHIPPING = [
  { name: "Tickets by e-mail", code: "email", description: "In your inbox within a minute", amount: 0 },
  { name: "Tickets by post", code: "post", description: "Registered letter, two working days", amount: 4.95 },
];

/** Creates the stock location "box office" and its shipping options: free by email, 4.95 by post. */
export async function createShipping(container: MedusaContainer, salesChannelId: string) {
  const fulfillment = container.resolve(Modules.FULFILLMENT);
  const link = container.resolve(ContainerRegistrationKeys.LINK);
  const { result: locations } = await createStockLocationsWorkflow(container).run({
    input: {
      locations: [{ name: "Box office", address: { city: "Amsterdam", country_code: "NL", address_1: "" } }],
    },
  });
  const stockLocationId = (locations[0] as { id: string }).id;
  const { result: profiles } = await createShippingProfilesWorkflow(container).run({
    input: { data: [{ name: "Default", type: "default" }] },
  });
  const shippingProfileId = (profiles[0] as { id: string }).id;
  const set = await fulfillment.createFulfillmentSets({
    name: "Box office delivery",
    type: "shipping",
    service_zones: [
      {
        name: "Europe",
        geo_zones: COUNTRIES.map((country_code) => ({
          country_code,
          type: "country" as const,
        })),
      },
    ],
  });
  await link.create([
    {
      [Modules.STOCK_LOCATION]: { stock_location_id: stockLocationId },
      [Modules.FULFILLMENT]: { fulfillment_provider_id: PROVIDER },
    },
    {
      [Modules.STOCK_LOCATION]: { stock_location_id: stockLocationId },
      [Modules.FULFILLMENT]: { fulfillment_set_id: set.id },
    },
  ]);
  await createShippingOptionsWorkflow(container).run({
    input: SHIPPING.map((option) =>
      shippingOption(option, (set.service_zones[0] as { id: string }).id, shippingProfileId),
    ),
  });
  await linkSalesChannelsToStockLocationWorkflow(container).run({
    input: { id: stockLocationId, add: [salesChannelId] },
  });
  return { stockLocationId, shippingProfileId };
}

function shippingOption(
  option: (typeof SHIPPING)[number],
  serviceZoneId: string,
  shippingProfileId: string,
): FulfillmentWorkflow.CreateShippingOptionsWorkflowInput {
  return {
    name: option.name,
    price_type: "flat",
    provider_id: PROVIDER,
    service_zone_id: serviceZoneId,
    shipping_profile_id: shippingProfileId,
    type: { label: option.name, code: option.code, description: option.description },
    prices: [{ currency_code: "eur", amount: option.amount }],
    rules: [
      { attribute: "enabled_in_store", value: "true", operator: "eq" },
      { attribute: "is_return", value: "false", operator: "eq" },
    ],
  };
}
