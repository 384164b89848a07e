/** The built example shop, with a second payment method that a test can make decline, ask for more, or settle later. */
const config = require("../../../../examples/medusa-store/.medusa/server/medusa-config.js").default;

const { payment } = config.modules;
payment.options.providers.push({ resolve: "./src/providers/bank", id: "bank", options: {} });

// Options that a test gives take the place of the example's; null takes one away.
const { options } = config.plugins.find(({ resolve }) => resolve === "@giftcard-pay/medusa");
options.charges = "whole";
for (const [name, value] of Object.entries(JSON.parse(process.env.TEST_GIFTCARD_OPTIONS ?? "{}"))) {
  if (value === null) delete options[name];
  else options[name] = value;
}

// Several processes share Medusa's own lock by the database. Its table comes with a migration.
if (process.env.TEST_SHARED_LOCK) {
  const resolve = "@medusajs/medusa/locking-postgres";
  const providers = [{ resolve, id: "locking-postgres", is_default: true }];
  config.modules.locking = { resolve: "@medusajs/medusa/locking", options: { providers } };
}

module.exports = config;
