import type { Storefront } from "../../../packages/medusa/test/support/storefront.js";
import type { TenderKind } from "../cells.js";
import type { Tenders } from "../shop.js";

/** What a purchase with these tenders costs, and what each card pays of it. */
export const tenders: Record<TenderKind, Tenders> = {
  card: {
    ...{ product: "faults-evening", totalCents: 3749, remainderCents: 0 },
    cards: [{ issuedCents: 4000, partCents: 3749 }],
  },
  "card + remainder": {
    ...{ product: "faults-night", totalCents: 7498, remainderCents: 2498 },
    cards: [{ issuedCents: 7500, partCents: 5000 }],
  },
  "two cards + remainder": {
    ...{ product: "faults-weekend", totalCents: 9947, remainderCents: 2498 },
    cards: [
      { issuedCents: 7500, partCents: 5000 },
      { issuedCents: 2449, partCents: 2449 },
    ],
  },
  "three units": {
    ...{ product: "faults-matinee", totalCents: 4500, remainderCents: 500 },
    cards: [{ issuedCents: 4000, partCents: 4000, chargesCents: [1500, 1500, 1000] }],
    units: { quantity: 3, eachCents: 1500 },
  },
  "ten units": {
    ...{ product: "faults-snack", totalCents: 5000, remainderCents: 0 },
    cards: [{ issuedCents: 6000, partCents: 5000, chargesCents: Array(10).fill(500) }],
    units: { quantity: 10, eachCents: 500 },
  },
};

/** What the purchases buy, and how it gets to the buyer: read once, since every cell makes carts. */
export interface Market {
  readonly regionId: string;
  readonly variantIds: Readonly<Record<string, string>>;
  readonly shippingOptionId: string;
}

const address = {
  ...{ first_name: "Ada", last_name: "Jansen", address_1: "Gracht 1" },
  ...{ city: "Amsterdam", postal_code: "1011 AB", country_code: "nl" },
};

/** Puts what the purchases buy on sale. */
export async function openMarket(storefront: Storefront): Promise<Market> {
  for (const { product, totalCents, units } of Object.values(tenders)) {
    await storefront.createProduct(product, (units?.eachCents ?? totalCents) / 100);
  }
  return readMarket(storefront);
}

/** Reads what is on sale. */
export async function readMarket(storefront: Storefront): Promise<Market> {
  const { regions } = await storefront.ok("GET", "/store/regions");
  const { products } = await storefront.ok("GET", "/store/products?fields=handle,variants.id&limit=100");
  const cartId = await storefront.createCart(tenders.card.product);
  const { shipping_options } = await storefront.ok("GET", `/store/shipping-options?cart_id=${cartId}`);
  return {
    regionId: regions[0].id,
    variantIds: Object.fromEntries(
      products.map((made: { handle: string; variants: { id: string }[] }) => [
        made.handle,
        made.variants[0]?.id,
      ]),
    ),
    shippingOptionId: shipping_options.find((option: { amount: number }) => option.amount === 0).id,
  };
}

/** A cart with what a purchase of this kind buys, ready to be paid. @returns its id */
export const createCart = (storefront: Storefront, market: Market, kind: TenderKind): Promise<string> =>
  fillCart(storefront, market, [
    { product: tenders[kind].product, quantity: tenders[kind].units?.quantity ?? 1 },
  ]);

/** A cart with these, ready to be paid. @returns its id */
export async function fillCart(
  storefront: Storefront,
  market: Market,
  items: readonly { readonly product: string; readonly quantity: number }[],
): Promise<string> {
  const { cart } = await storefront.ok("POST", "/store/carts", {
    ...{ region_id: market.regionId, email: "ada@example.com" },
    ...{ shipping_address: address, billing_address: address },
    items: items.map(({ product, quantity }) => ({ variant_id: market.variantIds[product], quantity })),
  });
  const option = { option_id: market.shippingOptionId };
  await storefront.ok("POST", `/store/carts/${cart.id}/shipping-methods`, option);
  return cart.id;
}
