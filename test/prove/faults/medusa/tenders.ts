import type { Storefront } from "../../../../packages/medusa/test/support/storefront.js";
import type { TenderKind } from "../cells.js";
import type { Tenders } from "../shop.js";

/** Ten units for 49.95: every second one costs a cent more. */
const TEN_UNITS = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? 500 : 499));

/** Takes 10 % off every purchase: together with the VAT in the prices, the totals have fractions of a cent. */
const CODES = ["TEN"];

/** The total of a purchase with these tenders, and each card's part. */
export const tenders: Record<TenderKind, Tenders & { readonly price: number }> = {
  card: {
    ...{ product: "faults-evening", price: 41.65, totalCents: 3749, remainderCents: 0 },
    cards: [{ issuedCents: 4000, partCents: 3749 }],
  },
  "card + remainder": {
    ...{ product: "faults-night", price: 83.31, totalCents: 7498, remainderCents: 2498 },
    cards: [{ issuedCents: 7500, partCents: 5000 }],
  },
  "two cards + remainder": {
    ...{ product: "faults-weekend", price: 110.52, totalCents: 9947, remainderCents: 2498 },
    cards: [
      { issuedCents: 7500, partCents: 5000 },
      { issuedCents: 2449, partCents: 2449 },
    ],
  },
  "three units": {
    // 67.365
    ...{ product: "faults-matinee", price: 24.95, totalCents: 6737, remainderCents: 1737 },
    cards: [{ issuedCents: 6000, partCents: 5000, chargesCents: [2246, 2245, 509] }],
    units: [2246, 2245, 2246],
  },
  "ten units": {
    ...{ product: "faults-snack", price: 5.55, totalCents: 4995, remainderCents: 0 },
    cards: [{ issuedCents: 6000, partCents: 4995, chargesCents: TEN_UNITS }],
    units: TEN_UNITS,
  },
};

/** The products that are bought, and their delivery. Read once, since every cell creates carts. */
export interface Market {
  readonly regionId: string;
  /** By their SKU; of a product with one variant also by its handle. */
  readonly variantIds: Readonly<Record<string, string>>;
  readonly shippingOptionId: string;
}

const address = {
  ...{ first_name: "Ada", last_name: "Jansen", address_1: "Gracht 1" },
  ...{ city: "Amsterdam", postal_code: "1011 AB", country_code: "nl" },
};

/** Puts what the purchases buy on sale. */
export async function openMarket(storefront: Storefront): Promise<Market> {
  for (const { product, price } of Object.values(tenders)) await storefront.createProduct(product, price);
  return readMarket(storefront);
}

/** Reads what is on sale. @param product one of them */
export async function readMarket(storefront: Storefront, product = tenders.card.product): Promise<Market> {
  const { regions } = await storefront.ok("GET", "/store/regions");
  const { products } = await storefront.ok("GET", "/store/products?fields=handle,variants.id,variants.sku&limit=100");
  const cartId = await storefront.createCart(product);
  const { shipping_options } = await storefront.ok("GET", `/store/shipping-options?cart_id=${cartId}`);
  return {
    regionId: regions[0].id,
    variantIds: Object.fromEntries(
      products.flatMap(({ handle, variants }: { handle: string; variants: { id: string; sku: string }[] }) => [
        [handle, variants[0]?.id],
        ...variants.map(({ id, sku }) => [sku, id]),
      ]),
    ),
    shippingOptionId: shipping_options.find((option: { amount: number }) => option.amount === 0).id,
  };
}

/** A cart with what a purchase of this kind buys, ready to be paid. @returns its id */
export const createCart = (storefront: Storefront, market: Market, kind: TenderKind): Promise<string> =>
  fillCart(storefront, market, [{ product: tenders[kind].product, quantity: tenders[kind].units?.length ?? 1 }], CODES);

/** A cart with these and promotion codes, ready to be paid. @returns its id */
export async function fillCart(
  storefront: Storefront,
  market: Market,
  items: readonly { readonly product: string; readonly quantity: number }[],
  codes: readonly string[] = [],
): Promise<string> {
  const { cart } = await storefront.ok("POST", "/store/carts", {
    ...{ region_id: market.regionId, email: "ada@example.com" },
    ...{ shipping_address: address, billing_address: address },
    promo_codes: codes,
    items: items.map(({ product, quantity }) => ({ variant_id: market.variantIds[product], quantity })),
  });
  const option = { option_id: market.shippingOptionId };
  await storefront.ok("POST", `/store/carts/${cart.id}/shipping-methods`, option);
  return cart.id;
}
