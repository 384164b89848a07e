import { withGiftcard } from "@giftcard-pay/medusa/config";
import type { EventsOptions } from "@giftcard-pay/medusa-events";
import { defineConfig } from "@medusajs/framework/utils";

/** Everything that differs between machines comes from the environment; the README lists it. */
const env = process.env;

/** The gift card issuer's service. Both plugins call it. */
const issuer = {
  environment: env.GIFTCARD_ENVIRONMENT === "live" ? "live" : "sandbox",
  baseUrl: env.GIFTCARD_BASE_URL ?? "",
  apiKey: env.GIFTCARD_API_KEY ?? "",
  companyId: env.GIFTCARD_COMPANY_ID ?? "",
} as const;

/** The shop sells tickets: its shows are in a feed, and at the issuer. */
const events: EventsOptions = {
  ...issuer,
  productUrl: `${env.STOREFRONT_URL ?? "http://localhost:8000"}/products/{handle}`,
  organiser: "Night Owl",
};

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
    // A shop on plain http, as in the demo, needs a cookie that plain http carries.
    ...(env.COOKIE_SECURE === "false" && { cookieOptions: { secure: false, sameSite: "lax" as const } }),
  },
  admin: { disable: env.DISABLE_ADMIN === "true", path: "/app" },
  plugins: [{ resolve: "@giftcard-pay/medusa-events", options: events }],
});

export default withGiftcard(config, {
  ...issuer,
  sealingKeys: sealingKeys(env.GIFTCARD_SEALING_KEYS),
});

/** Reads "id:key,id:key", the newest first. */
function sealingKeys(text = ""): { id: string; key: string }[] {
  return text.split(",").map((entry) => {
    const [id = "", key = ""] = entry.split(":");
    return { id, key };
  });
}
