import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules, ProductStatus } from "@medusajs/framework/utils";
import {
  createInventoryLevelsWorkflow,
  createProductsWorkflow,
  createProductTypesWorkflow,
} from "@medusajs/medusa/core-flows";

const STOCK = 1_000_000;

interface Variant {
  readonly title: string;
  readonly sku: string;
  /** In euros, including tax. */
  readonly price: number;
}

interface Product {
  readonly handle: string;
  readonly title: string;
  readonly subtitle: string;
  readonly description: string;
  /** The name of the option that distinguishes its variants. */
  readonly option: "Ticket" | "Size";
  readonly variants: readonly Variant[];
}

/** Admission to shows: the reduced VAT rate applies. */
const SHOWS: readonly Product[] = [
  {
    handle: "summer-night-festival",
    title: "Summer Night Festival",
    subtitle: "Two tickets",
    description: "An evening by the water with six bands on two stages. Two tickets, one for you and one for company.",
    option: "Ticket",
    variants: [{ title: "Two tickets", sku: "SUMMER-NIGHT-2", price: 74.98 }],
  },
  {
    handle: "open-air-cinema",
    title: "Open-air Cinema",
    subtitle: "One ticket",
    description: "A film under the stars, with a deck chair and a blanket. Which film? The audience votes.",
    option: "Ticket",
    variants: [{ title: "One ticket", sku: "CINEMA-1", price: 20 }],
  },
  {
    handle: "weekend-at-the-dunes",
    title: "Weekend at the Dunes",
    subtitle: "One weekend ticket",
    description: "Three days of music between sea and sand, with a place for your tent.",
    option: "Ticket",
    variants: [{ title: "One weekend ticket", sku: "DUNES-WEEKEND", price: 120 }],
  },
  {
    handle: "late-night-comedy",
    title: "Late-night Comedy",
    subtitle: "One ticket",
    description: "Five comedians, ten minutes each, in a cellar with good beer.",
    option: "Ticket",
    variants: [
      { title: "Standard", sku: "COMEDY-STANDARD", price: 24.95 },
      { title: "Reduced", sku: "COMEDY-REDUCED", price: 19.95 },
    ],
  },
  {
    handle: "jazz-in-the-orangery",
    title: "Jazz in the Orangery",
    subtitle: "One ticket",
    description: "A quartet between lemon trees, from the last daylight until eleven.",
    option: "Ticket",
    variants: [
      { title: "Standard", sku: "JAZZ-STANDARD", price: 19.95 },
      { title: "Reduced", sku: "JAZZ-REDUCED", price: 12.95 },
    ],
  },
];

/** Everything else: the standard VAT rate applies. */
const MERCHANDISE: readonly Product[] = [
  {
    handle: "night-owl-t-shirt",
    title: "Night Owl T-shirt",
    subtitle: "Organic cotton",
    description: "Black, with an owl that is still awake.",
    option: "Size",
    variants: [
      { title: "M", sku: "SHIRT-M", price: 24.95 },
      { title: "L", sku: "SHIRT-L", price: 24.95 },
    ],
  },
];

interface Places {
  readonly salesChannelId: string;
  readonly stockLocationId: string;
  readonly shippingProfileId: string;
}

/**
 * Creates the products with prices in euros, and stocks each in the box office.
 *
 * @returns the product type of tickets
 */
export async function createCatalogue(container: MedusaContainer, places: Places): Promise<{ ticketTypeId: string }> {
  const { result: types } = await createProductTypesWorkflow(container).run({
    input: { product_types: [{ value: "Ticket" }] },
  });
  const ticketTypeId = (types[0] as { id: string }).id;
  await createProductsWorkflow(container).run({
    input: {
      products: [
        ...SHOWS.map((show) => ({ ...productOf(show, places), type_id: ticketTypeId })),
        ...MERCHANDISE.map((article) => productOf(article, places)),
      ],
    },
  });
  const skus = [...SHOWS, ...MERCHANDISE].flatMap(({ variants }) => variants.map(({ sku }) => sku));
  const items = await container.resolve(Modules.INVENTORY).listInventoryItems({ sku: skus });
  await createInventoryLevelsWorkflow(container).run({
    input: {
      inventory_levels: items.map((item) => ({
        inventory_item_id: item.id,
        location_id: places.stockLocationId,
        stocked_quantity: STOCK,
      })),
    },
  });
  return { ticketTypeId };
}

function productOf({ option, variants, ...texts }: Product, places: Places) {
  return {
    ...texts,
    status: ProductStatus.PUBLISHED,
    shipping_profile_id: places.shippingProfileId,
    options: [{ title: option, values: variants.map(({ title }) => title) }],
    variants: variants.map(({ title, sku, price }) => ({
      title,
      sku,
      options: { [option]: title },
      prices: [{ currency_code: "eur", amount: price }],
    })),
    sales_channels: [{ id: places.salesChannelId }],
  };
}
