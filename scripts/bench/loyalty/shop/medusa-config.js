/** The example shop, once with gift cards, once with Medusa's own loyalty plugin, and once with neither. */
const { defineConfig } = require("@medusajs/framework/utils");

const { env } = process;

const config = defineConfig({
  projectConfig: {
    databaseUrl: env.DATABASE_URL,
    http: {
      storeCors: env.STORE_CORS ?? "",
      adminCors: env.ADMIN_CORS ?? "",
      authCors: env.AUTH_CORS ?? "",
      jwtSecret: env.JWT_SECRET,
      cookieSecret: env.COOKIE_SECRET,
    },
  },
  admin: { disable: true },
});

/** @type {Record<string, () => unknown>} */
const shops = {
  bare: () => config,
  loyalty: () => ({
    ...config,
    plugins: [...(config.plugins ?? []), { resolve: "@medusajs/loyalty-plugin", options: {} }],
  }),
  giftcard() {
    const { withGiftcard } = require("@giftcard-pay/medusa/config");
    const [id = "", key = ""] = (env.GIFTCARD_SEALING_KEYS ?? "").split(":");
    return withGiftcard(config, {
      environment: "sandbox",
      baseUrl: env.GIFTCARD_BASE_URL ?? "",
      apiKey: env.GIFTCARD_API_KEY ?? "",
      companyId: env.GIFTCARD_COMPANY_ID ?? "",
      sealingKeys: [{ id, key }],
    });
  },
};

module.exports = shops[env.BENCH_SHOP ?? "bare"]?.();
