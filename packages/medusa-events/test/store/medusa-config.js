/** A shop with one plugin: it takes no gift cards. */
const { defineConfig } = require("@medusajs/framework/utils");

const env = process.env;
const options = {
  baseUrl: env.GIFTCARD_BASE_URL,
  apiKey: env.GIFTCARD_API_KEY,
  companyId: env.GIFTCARD_COMPANY_ID,
  productUrl: "http://localhost:8000/products/{handle}",
  organiser: "Night Owl",
  // A test's own options; null removes one.
  ...JSON.parse(env.TEST_GIFTCARD_OPTIONS ?? "{}"),
};

module.exports = defineConfig({
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
  plugins: [
    {
      resolve: "@giftcard-pay/medusa-events",
      options: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null)),
    },
  ],
});
