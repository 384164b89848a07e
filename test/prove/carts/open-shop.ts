import type { Storefront } from "../../../packages/medusa/test/support/storefront.js";
import { openWorld, type World } from "../faults/medusa/world.js";
import { goods } from "./make-cart.js";

/** Promotions in addition to the shop's own: on items (each or across), on delivery, and on amounts without VAT. */
const promotions = [
  {
    code: "ITEMS15",
    type: "percentage",
    value: 15,
    target_type: "items",
    allocation: "across",
    isNet: false,
  },
  { code: "EACH1", type: "fixed", value: 1, target_type: "items", allocation: "each", isNet: false },
  {
    code: "POST2",
    type: "fixed",
    value: 2,
    target_type: "shipping_methods",
    allocation: "across",
    isNet: false,
  },
  { code: "NETSEVEN", type: "percentage", value: 7, target_type: "order", allocation: "across", isNet: true },
  { code: "NETFOUR", type: "fixed", value: 4, target_type: "order", allocation: "across", isNet: true },
] as const;
/** The most units of a line that a promotion on each item applies to. */
const EACH_OF = 3;

/** A world that sells the products of random carts. */
export interface CartShop extends Pick<World, "close"> {
  readonly world: World;
  /** Keyed by product handle, like `productIds`. */
  readonly variantIds: Readonly<Record<string, string>>;
  readonly productIds: Readonly<Record<string, string>>;
  readonly regionId: string;
  /** The free delivery by email, and the one by post. */
  readonly deliveryIds: readonly [string, string];
}

/** Starts a shop that charges by line. */
export async function openShop(postgresUrl: string): Promise<CartShop> {
  const world = await openWorld(postgresUrl, { timeoutMs: 4000, leaseMs: 5000, charges: "by-line" });
  try {
    const { storefront } = world;
    const exemptId = await exempt(storefront);
    const productIds: Record<string, string> = {};
    for (const [handle, { price, type }] of Object.entries(goods)) {
      const type_id = { Ticket: {}, Exempt: { type_id: exemptId }, none: { type_id: null } }[type ?? "none"];
      productIds[handle] = await storefront.createProduct(handle, price, type_id);
    }
    for (const promotion of promotions) await promote(storefront, promotion);
    const { products } = await storefront.ok("GET", "/store/products?fields=handle,variants.id&limit=100");
    const cartId = await storefront.createCart("opera");
    const { shipping_options } = await storefront.ok("GET", `/store/shipping-options?cart_id=${cartId}`);
    const [free, post] = [...shipping_options].sort((a, b) => a.amount - b.amount);
    return {
      ...{ world, productIds, regionId: world.market.regionId, deliveryIds: [free.id, post.id] },
      variantIds: Object.fromEntries(
        products.map(({ handle, variants }: { handle: string; variants: { id: string }[] }) => [
          handle,
          variants[0]?.id,
        ]),
      ),
      close: world.close,
    };
  } catch (error) {
    await world.close();
    throw error;
  }
}

/** Creates a product type that is exempt from VAT. @returns its id */
async function exempt({ ok }: Storefront): Promise<string> {
  const { product_type } = await ok("POST", "/admin/product-types", { value: "Exempt" });
  const { tax_regions } = await ok("GET", "/admin/tax-regions?limit=50&fields=id,country_code");
  for (const { id, country_code } of tax_regions)
    await ok("POST", "/admin/tax-rates", {
      ...{ tax_region_id: id, name: "Exempt", code: `exempt-${country_code}`, rate: 0 },
      rules: [{ reference: "product_type", reference_id: product_type.id }],
    });
  return product_type.id;
}

async function promote({ ok }: Storefront, promotion: (typeof promotions)[number]): Promise<void> {
  const { code, isNet, ...method } = promotion;
  await ok("POST", "/admin/promotions", {
    ...{ code, type: "standard", status: "active", is_tax_inclusive: !isNet },
    application_method: {
      ...method,
      currency_code: "eur",
      ...(method.allocation === "each" && { max_quantity: EACH_OF }),
    },
  });
}

/** Sets whether prices include VAT. Applies to items that are added to a cart afterwards. */
export async function setInclusive({ world }: CartShop, isInclusive: boolean): Promise<void> {
  const { ok } = world.storefront;
  const { price_preferences } = await ok("GET", "/admin/price-preferences?limit=50");
  for (const { id, is_tax_inclusive } of price_preferences)
    if (is_tax_inclusive !== isInclusive)
      await ok("POST", `/admin/price-preferences/${id}`, { is_tax_inclusive: isInclusive });
}
