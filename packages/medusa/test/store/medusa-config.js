/** The built example shop with a bank that a test can make decline, require an action, or settle later. */
const config = require("../../../../examples/medusa-store/.medusa/server/medusa-config.js").default;

// Gift cards are the only plugin here.
config.plugins = config.plugins.filter(({ resolve }) => resolve !== "@giftcard-pay/medusa-events");

const { payment } = config.modules;
payment.options.providers.push({ resolve: "./src/providers/bank", id: "bank", options: {} });

// Medusa's Stripe provider, if a test simulates Stripe.
const { TEST_STRIPE_URL, TEST_STRIPE_API_KEY, TEST_STRIPE_WEBHOOK_SECRET, TEST_STRIPE_CAPTURE } = process.env;
if (TEST_STRIPE_URL) {
  const options = {
    apiKey: TEST_STRIPE_API_KEY,
    webhookSecret: TEST_STRIPE_WEBHOOK_SECRET,
    capture: TEST_STRIPE_CAPTURE === "true",
  };
  payment.options.providers.push({ resolve: "./src/providers/stripe", id: "stripe", options });
}

// If a test triggers recovery itself, the scheduled run is off.
if (process.env.TEST_RECOVER_BY_HAND) {
  const job = require("../../.medusa/server/src/jobs/recover-giftcards.js");
  job.config.schedule = `0 ${(new Date().getHours() + 12) % 24} * * *`;
}

// A test's options override the example's; null removes one.
const { options } = config.plugins.find(({ resolve }) => resolve === "@giftcard-pay/medusa");
options.charges = "whole";
for (const [name, value] of Object.entries(JSON.parse(process.env.TEST_GIFTCARD_OPTIONS ?? "{}"))) {
  if (value === null) delete options[name];
  else options[name] = value;
}

// Several processes share Medusa's lock, through the database (a migration creates its table) or Redis.
const { TEST_LOCK, TEST_REDIS_URL } = process.env;
if (TEST_LOCK) {
  const resolve = `@medusajs/medusa/locking-${TEST_LOCK}`;
  const options = TEST_LOCK === "redis" ? { redisUrl: TEST_REDIS_URL } : {};
  const providers = [{ resolve, id: `locking-${TEST_LOCK}`, is_default: true, options }];
  config.modules.locking = { resolve: "@medusajs/medusa/locking", options: { providers } };
}

// A worker runs jobs and subscribers, a server calls of pages.
config.projectConfig.workerMode = process.env.TEST_WORKER_MODE ?? "shared";

// The same shop without this plugin, for comparison.
if (process.env.TEST_PLAIN) {
  config.plugins = [];
  const { dependencies, options } = payment;
  payment.dependencies = dependencies.filter((name) => name !== "giftcard");
  options.providers = options.providers.filter(({ id }) => id !== "giftcard");
}

module.exports = config;
