/** The shop: Vendure's server with gift cards and a bank. */
import { pathToFileURL } from "node:url";
import { GiftcardPlugin } from "@giftcard-pay/vendure";
import { bootstrap, DefaultLogger, DefaultSchedulerPlugin, LogLevel } from "@vendure/core";
import { bankMethod, openBank } from "./bank-method.js";
import { seed } from "./seed.js";
import { readSettings } from "./settings.js";

/**
 * @param {import("./settings.js").Settings} settings
 * @returns {import("@vendure/core").VendureConfig}
 */
export function configOf(settings) {
  const bank = openBank(settings.bankUrl);
  return {
    apiOptions: {
      ...{ hostname: settings.host, port: settings.port, adminApiPath: "admin-api", shopApiPath: "shop-api" },
      ...{ cors: false, csrfPrevention: true },
    },
    authOptions: {
      tokenMethod: ["bearer", "cookie"],
      superadminCredentials: { identifier: "superadmin", password: settings.superadminPassword },
      cookieOptions: { secret: settings.cookieSecret },
    },
    // For testing only: a real shop uses migrations.
    dbConnectionOptions: { type: "postgres", url: settings.databaseUrl, synchronize: true, logging: false },
    paymentOptions: { paymentMethodHandlers: [bankMethod(bank)] },
    // This shop has no worker process.
    schedulerOptions: { runTasksInWorkerOnly: false },
    logger: new DefaultLogger({ level: LogLevel.Warn, timestamp: false }),
    plugins: [
      DefaultSchedulerPlugin.init(),
      GiftcardPlugin.init({
        ...settings.giftcards,
        closePayment: ({ attemptId }) => bank.close(attemptId),
      }),
    ],
  };
}

/** @param {import("./settings.js").Settings} settings */
export async function startShop(settings) {
  const app = await bootstrap(configOf(settings));
  await seed(app);
  return { url: await app.getUrl(), stop: () => app.close() };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const shop = await startShop(readSettings(process.env));
  process.once("SIGTERM", () => shop.stop().then(() => process.exit(0)));
  console.log(`The shop is ready at ${shop.url}`);
}
