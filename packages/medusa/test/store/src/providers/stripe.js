const { createRequire } = require("node:module");
const { ModuleProvider, Modules } = require("@medusajs/framework/utils");
const { default: stripe, discoveryPath } = require("@medusajs/medusa/payment-stripe");

/** The SDK instance that Medusa's provider uses. */
const Stripe = createRequire(discoveryPath)("stripe");
const StripeProviderService = stripe.services.find(({ identifier }) => identifier === "stripe");

/** Medusa's own Stripe provider, with its SDK pointed at the test's simulated Stripe. */
class PlayedStripeProvider extends StripeProviderService {
  static identifier = "stripe";

  constructor(container, options) {
    super(container, options);
    const { hostname, port } = new URL(process.env.TEST_STRIPE_URL);
    this.stripe_ = new Stripe(options.apiKey, { host: hostname, port, protocol: "http" });
  }
}

module.exports = ModuleProvider(Modules.PAYMENT, { services: [PlayedStripeProvider] });
