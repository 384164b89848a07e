/** The shop: Vendure's server with gift cards. */
import { pathToFileURL } from "node:url";
import { createHandler } from "@giftcard-pay/checkout";
import { toNodeListener } from "@giftcard-pay/checkout/node";
import {
  bootstrap,
  DefaultLogger,
  defaultOrderProcess,
  defaultPaymentProcess,
  EventBus,
  Logger,
  LogLevel,
  OrderService,
  OrderStateTransitionEvent,
  PaymentStateTransitionEvent,
  RequestContextService,
  SessionService,
} from "@vendure/core";
import { cartOf, openGiftCards } from "./gift-cards.js";
import { bankPayment, besideGiftCards, giftCardPayment, onlyPaidOrders, openBank } from "./payments.js";
import { seed } from "./seed.js";
import { readSettings } from "./settings.js";

/** @typedef {import("./gift-cards.js").GiftCards} GiftCards */

/**
 * @param {import("./settings.js").Settings} settings
 * @param {() => GiftCards} giftCards
 * @param {ReturnType<typeof openBank>} bank
 * @returns {import("@vendure/core").VendureConfig}
 */
const configOf = (settings, giftCards, bank) => ({
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
  paymentOptions: {
    paymentMethodHandlers: [giftCardPayment(giftCards), bankPayment(giftCards, bank)],
    process: [defaultPaymentProcess, besideGiftCards(giftCards)],
  },
  orderOptions: { process: [defaultOrderProcess, onlyPaidOrders(giftCards)] },
  logger: new DefaultLogger({ level: LogLevel.Warn, timestamp: false }),
  plugins: [],
});

/**
 * The routes of `<giftcard-pay>`. A request may use the active order of its own session.
 * @param {import("@nestjs/common").INestApplication} app
 * @param {GiftCards} giftCards
 */
function giftCardRoutes(app, { checkout }) {
  async function activeOrder(/** @type {any} */ request) {
    const bearer = /^bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const token = request.session?.token ?? bearer;
    const session = token && (await app.get(SessionService).getSessionFromToken(token));
    if (!session) return null;
    const ctx = await app.get(RequestContextService).create({ apiType: "shop" });
    const orders = app.get(OrderService);
    if (session.activeOrderId) return orders.findOne(ctx, session.activeOrderId);
    return session.user ? orders.getActiveOrderForUser(ctx, session.user.id) : null;
  }
  return async (/** @type {any} */ request, /** @type {any} */ response) => {
    const order = await activeOrder(request).catch(({ message }) => void Logger.error(message, "GiftCards"));
    const giftcards = createHandler(checkout, { cartOf: () => (order ? cartOf(order) : null) });
    await toNodeListener(giftcards)(request, response);
  };
}

/** @param {import("./settings.js").Settings} settings */
export async function startShop(settings) {
  /** @type {GiftCards | undefined} */
  let opened;
  const giftCards = () => /** @type {GiftCards} */ (opened);
  const bank = openBank(settings.bankUrl);
  const app = await bootstrap(configOf(settings, giftCards, bank), {
    onBeforeAppListen: async (app) => {
      opened = await openGiftCards(settings, app, bank);
      app.use("/giftcards", giftCardRoutes(app, opened));
    },
  });
  await seed(app);
  const { sweep, soon, close } = giftCards();
  // These events are published after their transaction is committed.
  for (const event of [PaymentStateTransitionEvent, OrderStateTransitionEvent])
    app
      .get(EventBus)
      .ofType(event)
      .subscribe(({ order }) => soon(order.code));
  let isOver = false;
  /** @type {NodeJS.Timeout} */
  let next;
  let sweeping = Promise.resolve();
  const sweepOnAndOn = async () => {
    await sweep().catch(({ message }) => Logger.error(message, "GiftCards"));
    if (isOver) return;
    next = setTimeout(() => (sweeping = sweepOnAndOn()), settings.recoverEveryMs);
  };
  sweeping = sweepOnAndOn();
  return {
    url: await app.getUrl(),
    stop: async () => {
      isOver = true;
      clearTimeout(next);
      await sweeping;
      await app.close();
      await close();
    },
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const shop = await startShop(readSettings(process.env));
  process.once("SIGTERM", () => shop.stop().then(() => process.exit(0)));
  console.log(`The shop is ready at ${shop.url}`);
}
