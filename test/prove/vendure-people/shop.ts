import { fileURLToPath } from "node:url";
import type { openAdmin } from "../../../scripts/shops/vendure-shopper.mjs";
import { type PlayedStripe, startPlayedStripe } from "../../support/played-stripe.js";
import { openWorld, type World } from "../faults/vendure/world.js";

const PROGRAM = fileURLToPath(new URL("../../../packages/vendure/test/support/shop.mjs", import.meta.url));
const FAULT = "... on ErrorResult { errorCode message }";

/** The products: prices in cents that give fractions when taxed and discounted. The shirt has the standard VAT rate. */
const products = [
  { name: "Concert", price: 3749, tax: "reduced" },
  { name: "Snack", price: 333, tax: "reduced" },
  { name: "Shirt", price: 2495, tax: "standard" },
  { name: "Weekend", price: 11_051, tax: "standard" },
] as const;

const promotions = [
  { code: "SEVEN", action: "order_percentage_discount", args: { discount: "7" } },
  { code: "FIVE", action: "order_fixed_discount", args: { discount: "500" } },
  { code: "FREESHIP", action: "free_shipping", args: {} },
] as const;

export const coupons = promotions.map(({ code }) => code);

/** The channels' tokens: the default one with prices that include VAT, and one with net prices. */
export const channels = [undefined, "net"] as const;

/** Two servers, a worker and Stripe's webhooks, in a shop with VAT, promotions, and two channels. */
export interface Shop {
  readonly world: World;
  readonly stripe: PlayedStripe;
  readonly variantIds: readonly string[];
  close(): Promise<void>;
}

/** Starts the shop on a PostgreSQL server. */
export async function openShop(postgresUrl: string): Promise<Shop> {
  const stripe = await startPlayedStripe();
  const env = { STRIPE_URL: stripe.url, PENDING_REMAINDER_MS: "9000" };
  const world = await openWorld(postgresUrl, { program: PROGRAM, env, hasWorker: true }).catch(async (error) => {
    await stripe.stop();
    throw error;
  });
  const close = async () => {
    await world.close();
    await stripe.stop();
  };
  try {
    return { world, stripe, variantIds: await stock(await world.admin(), stripe), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Admin = Awaited<ReturnType<typeof openAdmin>>;

const argsOf = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }));
const namedAs = (name: string) => [{ languageCode: "en", name, description: "" }];

/** Creates products, a second tax rate, shipping, promotions, Stripe's payment method, and the channel with net prices. */
async function stock(admin: Admin, { apiKey, webhookSecret }: PlayedStripe): Promise<string[]> {
  const create = (type: string, input: object) =>
    admin.call(
      `mutation ($input: Create${type}Input!) { create${type}(input: $input) { ... on ${type} { id } ${type === "Promotion" || type === "Channel" ? FAULT : ""} } }`,
      { input },
    );
  const zoneId = (await admin.call("{ zones { items { id } } }")).items[0].id;
  const standard = (await create("TaxCategory", { name: "Standard" })).id;
  await create("TaxRate", { name: "21 %", enabled: true, value: 21, categoryId: standard, zoneId });
  const reduced = (await admin.call("{ taxCategories { items { id name } } }")).items[0].id;
  const variantIds: string[] = [];
  for (const { name, price, tax } of products) {
    const translations = [{ languageCode: "en", name, slug: name.toLowerCase(), description: "" }];
    const { id: productId } = await create("Product", { translations });
    const variant = {
      ...{ productId, sku: name, price, taxCategoryId: tax === "standard" ? standard : reduced },
      ...{ translations: [{ languageCode: "en", name }], trackInventory: "FALSE" },
    };
    const [made] = await admin.call(
      "mutation ($input: [CreateProductVariantInput!]!) { createProductVariants(input: $input) { id } }",
      { input: [variant] },
    );
    variantIds.push(made.id);
  }
  await create("ShippingMethod", {
    ...{ code: "post", fulfillmentHandler: "manual-fulfillment", translations: namedAs("Post") },
    checker: { code: "default-shipping-eligibility-checker", arguments: argsOf({ orderMinimum: "0" }) },
    calculator: {
      code: "default-shipping-calculator",
      arguments: argsOf({ rate: "495", includesTax: "auto", taxRate: "21" }),
    },
  });
  const promotionIds: string[] = [];
  for (const { code, action, args } of promotions)
    promotionIds.push(
      (
        await create("Promotion", {
          ...{ enabled: true, couponCode: code, translations: namedAs(code), conditions: [] },
          actions: [{ code: action, arguments: argsOf(args) }],
        })
      ).id,
    );
  await create("PaymentMethod", {
    ...{ code: "stripe", enabled: true, translations: namedAs("Stripe") },
    handler: { code: "stripe", arguments: argsOf({ apiKey, webhookSecret }) },
  });
  const naive = { naive: { ids: "order" }, "naive-pending": { ids: "order", refunds: "Pending" } };
  for (const [code, args] of Object.entries(naive))
    await create("PaymentMethod", {
      ...{ code, enabled: true, translations: namedAs(code) },
      handler: { code: "naive", arguments: argsOf(args) },
    });
  const { id: channelId } = await create("Channel", {
    ...{ code: "net", token: "net", defaultLanguageCode: "en", defaultCurrencyCode: "EUR", pricesIncludeTax: false },
    ...{ defaultTaxZoneId: zoneId, defaultShippingZoneId: zoneId },
  });
  const idsOf = async (list: string) =>
    (await admin.call(`{ ${list}(options: { take: 50 }) { items { id } } }`)).items.map(({ id }: { id: string }) => id);
  const assign = (type: string, idsName: string, ids: readonly string[], more = {}) =>
    admin.call(`mutation ($input: Assign${type}ToChannelInput!) { assign${type}ToChannel(input: $input) { id } }`, {
      input: { channelId, [idsName]: ids, ...more },
    });
  await assign("Products", "productIds", await idsOf("products"), { priceFactor: 1 });
  await assign("ShippingMethods", "shippingMethodIds", await idsOf("shippingMethods"));
  await assign("PaymentMethods", "paymentMethodIds", await idsOf("paymentMethods"));
  await assign("Promotions", "promotionIds", promotionIds);
  return variantIds;
}
