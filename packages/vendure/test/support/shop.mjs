/** The example's shop with what tests need besides: Vendure's own Stripe plugin, a database of SQLite, and a worker. */
import { createRequire, isBuiltin, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { outstandingByStripe } from "@giftcard-pay/vendure";
import {
  bootstrap,
  bootstrapWorker,
  defaultOrderProcess,
  LanguageCode,
  mergeConfig,
  PaymentMethodEligibilityChecker,
  PaymentMethodHandler,
  VendurePlugin,
} from "@vendure/core";
import { MolliePlugin } from "@vendure/payments-plugin/package/mollie/index.js";
import { StripePlugin } from "@vendure/payments-plugin/package/stripe/index.js";
import { openBank } from "../../../../examples/vendure/bank-method.js";
import { seed } from "../../../../examples/vendure/seed.js";
import { readSettings } from "../../../../examples/vendure/settings.js";
import { configOf } from "../../../../examples/vendure/shop.js";

const { STRIPE_URL, MOLLIE_URL, SQLITE_FILE, WORKER, HAS_WORKER, STRIPE_AS_IT_IS, DASHBOARD, REPLACED, POOL_MAX } =
  process.env;

/** Sends Stripe's SDK to another host. The SDK itself and the plugin are unchanged. @param {string} url */
function redirectStripe(url) {
  const client = createRequire(import.meta.url)("@vendure/payments-plugin/package/stripe/stripe-client.js");
  const { hostname, port } = new URL(url);
  client.VendureStripeClient = class extends client.VendureStripeClient {
    /** @param {any[]} given */
    constructor(...given) {
      super(...given);
      Object.assign(this._api, { host: hostname, port, protocol: "http" });
    }
  };
}

/** Sends Mollie's SDK to another host. @param {string} url */
function redirectMollie(url) {
  const sdk = createRequire(import.meta.url)("@mollie/api-client");
  const create = sdk.default;
  sdk.default = (/** @type {object} */ options) => create({ ...options, apiEndpoint: `${url}/v2/` });
}

/**
 * The dashboard's server plugin. It is installed in a folder of its own, which has no Vendure: what it imports from
 * there is resolved from here, so that it is a plugin of this very Vendure.
 */
async function loadDashboard() {
  const installed = new URL("../../../../examples/vendure/dashboard/node_modules/", import.meta.url);
  const { resolve } = createRequire(import.meta.url);
  registerHooks({
    resolve(specifier, context, next) {
      const bare = !/^[./]|^\w+:/.test(specifier) && !isBuiltin(specifier);
      if (bare && context.parentURL?.startsWith(installed.href)) {
        try {
          return { url: pathToFileURL(resolve(specifier)).href, shortCircuit: true };
        } catch {
          // Not part of the shop: the dashboard's own copy.
        }
      }
      return next(specifier, context);
    },
  });
  return createRequire(installed)("@vendure/dashboard/plugin").DashboardPlugin;
}

/**
 * Makes a method as shops write them: it takes the amount that Vendure names, without asking anyone. Its refunds answer as its
 * arguments say, and its ids may repeat for an order.
 * @param {ReturnType<typeof openBank>} bank
 */
function naiveMethod(bank) {
  let taken = 0;
  const refusedVoids = new Set();
  /** @param {string} value */
  const text = (value) => ({ type: /** @type {const} */ ("string"), defaultValue: value, required: false });
  return new PaymentMethodHandler({
    code: "naive",
    description: [{ languageCode: LanguageCode.en, value: "Naive" }],
    args: { refunds: text("Settled"), ids: text("unique"), takes: text("Settled"), voids: text("at once") },
    async createPayment(_ctx, order, asked, { ids, takes }, { amountCents: amount = asked }) {
      taken += 1;
      const id = `${order.code}-${process.pid}-${taken}`;
      if (amount > 0) await bank.take(id, { amountCents: amount, orderCode: order.code });
      const state = takes === "Authorized" ? "Authorized" : "Settled";
      return { amount, state, transactionId: ids === "order" ? order.code : id, metadata: { id } };
    },
    settlePayment: async () => ({ success: true }),
    async cancelPayment(_ctx, _order, { metadata }, { voids }) {
      const isFirst = !refusedVoids.has(metadata.id);
      refusedVoids.add(metadata.id);
      if (voids === "later" && isFirst) return { success: false, errorMessage: "Try again later." };
      await bank.close(metadata.id);
      return { success: true };
    },
    async createRefund(_ctx, _input, cents, _order, { metadata }, { refunds = "Settled" }) {
      if (refunds === "Settled") await bank.giveBack(metadata.id, { id: `${Math.random()}`, amountCents: cents });
      return { state: /** @type {any} */ (refunds), transactionId: "" };
    },
  });
}

/** Refuses orders above a total. */
const atMost = new PaymentMethodEligibilityChecker({
  code: "at-most",
  description: [{ languageCode: LanguageCode.en, value: "At most" }],
  args: { cents: { type: "int" } },
  check: (_ctx, { totalWithTax }, { cents }) => totalWithTax <= cents || "This order is too large for gift cards.",
});

/** States of a shop's own: two before the payment, as Vendure's documentation has them, and one after it. */
const beforePayment = { to: ["PaymentAuthorized", "PaymentSettled", "AddingItems", "Cancelled"] };
const ownStates = /** @type {any} */ ({
  transitions: {
    ArrangingPayment: { to: ["AwaitingTransfer", "PaymentReview"], mergeStrategy: "merge" },
    ...{ AwaitingTransfer: beforePayment, PaymentReview: beforePayment },
    PaymentSettled: { to: ["Packing"], mergeStrategy: "merge" },
    Packing: { to: ["Shipped", "Cancelled"] },
  },
});

/** A plugin that replaces the order processes, also those that other plugins have added. */
class ReplacingPlugin {}
VendurePlugin({
  configuration: (config) => {
    config.orderOptions.process = [defaultOrderProcess];
    return config;
  },
})(ReplacingPlugin);

if (STRIPE_URL) redirectStripe(STRIPE_URL);
if (MOLLIE_URL) redirectMollie(MOLLIE_URL);
const settings = readSettings(process.env);
const config = configOf(settings);
const stripe = StripePlugin.init(
  STRIPE_AS_IT_IS ? {} : outstandingByStripe({ paymentIntentCreateParams: () => ({ description: "tickets" }) }),
);
/** @type {import("@vendure/core").VendureConfig} */
const whole = mergeConfig(config, {
  paymentOptions: {
    paymentMethodHandlers: [...config.paymentOptions.paymentMethodHandlers, naiveMethod(openBank(settings.bankUrl))],
    paymentMethodEligibilityCheckers: [atMost],
  },
  orderOptions: { process: [defaultOrderProcess, ownStates] },
  plugins: [
    ...(config.plugins ?? []),
    stripe,
    ...(DASHBOARD ? [(await loadDashboard()).init({ route: "dashboard", appDir: DASHBOARD })] : []),
    ...(REPLACED ? [ReplacingPlugin] : []),
    ...(MOLLIE_URL ? [MolliePlugin.init({ vendureHost: "https://shop.example" })] : []),
  ],
  schedulerOptions: { runTasksInWorkerOnly: HAS_WORKER === "true" },
  ...(POOL_MAX && { dbConnectionOptions: /** @type {any} */ ({ extra: { max: Number(POOL_MAX) } }) }),
  ...(SQLITE_FILE && {
    dbConnectionOptions: /** @type {any} */ ({
      type: "sqljs",
      location: SQLITE_FILE,
      autoSave: true,
      synchronize: true,
      url: undefined,
    }),
  }),
});
if (WORKER) {
  const worker = await bootstrapWorker({
    ...whole,
    dbConnectionOptions: { ...whole.dbConnectionOptions, synchronize: false },
  });
  process.once("SIGTERM", () => worker.app.close().then(() => process.exit(0)));
  console.log("The shop is ready at worker");
} else {
  const app = await bootstrap(whole);
  await seed(app);
  process.once("SIGTERM", () => app.close().then(() => process.exit(0)));
  console.log(`The shop is ready at ${await app.getUrl()}`);
}
