import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules, ProductStatus } from "@medusajs/framework/utils";
import { createInventoryLevelsWorkflow, createProductsWorkflow } from "@medusajs/medusa/core-flows";

const STOCK = 1_000_000;

/** What there is to buy: one order that a 75.00 card and a little pay, one that a card covers, one for two cards. */
const EVENTS = [
  {
    handle: "summer-night-festival",
    title: "Summer Night Festival",
    subtitle: "Two tickets",
    description:
      "An evening by the water with six bands on two stages. Two tickets, one for you and one for company.",
    sku: "SUMMER-NIGHT-2",
    price: 74.98,
  },
  {
    handle: "open-air-cinema",
    title: "Open-air Cinema",
    subtitle: "One ticket",
    description: "A film under the stars, with a deck chair and a blanket. Which film? The audience votes.",
    sku: "CINEMA-1",
    price: 20,
  },
  {
    handle: "weekend-at-the-dunes",
    title: "Weekend at the Dunes",
    subtitle: "One weekend ticket",
    description: "Three days of music between sea and sand, with a place for your tent.",
    sku: "DUNES-WEEKEND",
    price: 120,
  },
];

interface Places {
  salesChannelId: string;
  stockLocationId: string;
  shippingProfileId: string;
}

/** Creates the events, priced in euro, and puts stock of each in the box office. */
export async function createCatalogue(container: MedusaContainer, places: Places): Promise<void> {
  await createProductsWorkflow(container).run({
    input: {
      products: EVENTS.map((event) => ({
        handle: event.handle,
        title: event.title,
        subtitle: event.subtitle,
        description: event.description,
        status: ProductStatus.PUBLISHED,
        shipping_profile_id: places.shippingProfileId,
        options: [{ title: "Ticket", values: ["Standard"] }],
        variants: [
          {
            title: event.subtitle,
            sku: event.sku,
            options: { Ticket: "Standard" },
            prices: [{ currency_code: "eur", amount: event.price }],
          },
        ],
        sales_channels: [{ id: places.salesChannelId }],
      })),
    },
  });
  const items = await container
    .resolve(Modules.INVENTORY)
    .listInventoryItems({ sku: EVENTS.map((event) => event.sku) });
  await createInventoryLevelsWorkflow(container).run({
    input: {
      inventory_levels: items.map((item) => ({
        inventory_item_id: item.id,
        location_id: places.stockLocationId,
        stocked_quantity: STOCK,
      })),
    },
  });
}
