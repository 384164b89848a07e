/** Fills an empty shop with its only product: a ticket for 37.49, including tax. */
import {
  ChannelService,
  CurrencyCode,
  LanguageCode,
  Populator,
  ProductService,
  ProductVariantService,
  RequestContextService,
  TransactionalConnection,
} from "@vendure/core";

const initialData = {
  defaultLanguage: LanguageCode.en,
  defaultZone: "Netherlands",
  countries: [{ name: "Netherlands", code: "NL", zone: "Netherlands" }],
  taxRates: [{ name: "Reduced", percentage: 9 }],
  shippingMethods: [{ name: "By e-mail", price: 0 }],
  paymentMethods: ["giftcard", "bank"].map((code) => ({ name: code, handler: { code, arguments: [] } })),
  collections: [],
};

/** @param {import("@nestjs/common").INestApplicationContext} app */
export async function seed(app) {
  const ctx = await app.get(RequestContextService).create({ apiType: "admin" });
  const { totalItems } = await app.get(ProductService).findAll(ctx, { take: 1 });
  if (totalItems > 0) return;
  const channels = app.get(ChannelService);
  const { id } = await channels.getDefaultChannel();
  const settings = { defaultCurrencyCode: CurrencyCode.EUR, pricesIncludeTax: true };
  await channels.update(ctx, { id, ...settings, availableCurrencyCodes: [CurrencyCode.EUR] });
  await app.get(Populator).populateInitialData(initialData);
  const fresh = await app.get(RequestContextService).create({ apiType: "admin" });
  const names = (/** @type {string} */ name, slug = "ticket") => [
    { languageCode: LanguageCode.en, name, slug, description: "" },
  ];
  await app.get(TransactionalConnection).withTransaction(fresh, async (inside) => {
    const product = await app.get(ProductService).create(inside, { translations: names("Ticket") });
    const variant = {
      sku: "ticket",
      price: 3749,
      translations: names("Ticket"),
      trackInventory: /** @type {any} */ ("FALSE"),
    };
    await app.get(ProductVariantService).create(inside, [{ ...variant, productId: product.id }]);
  });
}
