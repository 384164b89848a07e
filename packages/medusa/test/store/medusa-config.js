/** The built example shop, with a second payment method that a test can make decline, ask for more, or settle later. */
const config = require("../../../../examples/medusa-store/.medusa/server/medusa-config.js").default;

const { payment } = config.modules;
Object.assign(payment.options, { webhook_delay: 0 });
payment.options.providers.push({ resolve: "./src/providers/bank", id: "bank", options: {} });

const { TEST_GIFTCARD_OPTIONS } = process.env;
if (TEST_GIFTCARD_OPTIONS) {
  const plugin = config.plugins.find(({ resolve }) => resolve === "@giftcard-pay/medusa");
  Object.assign(plugin.options, JSON.parse(TEST_GIFTCARD_OPTIONS));
}

module.exports = config;
