import Stripe from "stripe";
import { afterEach, beforeEach } from "vitest";
import type { FaultProxy } from "../../../test/support/fault-proxy.js";
import { type PlayedStripe, type StripeEvent, startPlayedStripe } from "../../../test/support/played-stripe.js";
import type { StripeIntent } from "../../../test/support/stripe-objects.js";
import { startStripeWire } from "../../../test/support/stripe-wire.js";
import type { CheckoutOptions } from "../src/index.js";
import { type PaymentAlert, type StripeIntentOptions, stripe, stripeCheckout } from "../src/methods/stripe.js";
import { latest, type Stage, type TestOrder } from "./each-store.js";
import { withProvider } from "./providers.js";

export const VISA = "4242424242424242";
export const ASKS_FOR_MORE = "4000002500003155";
export const DECLINED = "4000000000000002";

/** Adds a simulated Stripe, called by Stripe's own SDK over a network that can fail. Both are new in each test. */
export function withStripe(stage: Stage) {
  const current = {} as { played: PlayedStripe; wire: FaultProxy };
  const played = latest(() => current.played);
  const wire = latest(() => current.wire);
  const alerts: PaymentAlert[] = [];
  const listeners: { close(): Promise<unknown> }[] = [];
  beforeEach(async () => {
    alerts.length = 0;
    current.played = await startPlayedStripe();
    current.wire = await startStripeWire(played.url);
  });
  afterEach(async () => {
    for (const { close } of listeners.splice(0)) await close();
    wire.clear();
    await wire.release();
    await wire.stop();
    await played.stop();
  });

  const intentsOf = (orderId: string): StripeIntent[] =>
    played.intents.all().filter(({ metadata }) => metadata.orderId === orderId);
  const heldCents = (orderId: string) =>
    intentsOf(orderId).reduce((sum, { id }) => sum + played.intents.heldCents(id) + played.intents.takenCents(id), 0);
  const provider = withProvider(stage, heldCents);

  function options(): Omit<StripeIntentOptions, "parameters"> & { returnUrl: (orderId: string) => string } {
    const { hostname: host, port } = new URL(wire.url);
    const client = new Stripe(played.apiKey, { host, port: Number(port), protocol: "http", telemetry: false });
    return {
      client,
      webhookSecret: played.webhookSecret,
      timeoutMs: 2000,
      onAlert: (alert) => alerts.push(alert),
      returnUrl: (orderId) => `https://shop.example/orders/${orderId}`,
    };
  }
  const inPage = (more: Partial<StripeIntentOptions> = {}) => stripe({ ...options(), ...more });
  const onStripesPage = () => stripeCheckout(options());

  /** Serves the webhook of a shop. @returns a function that sends events there, by default all of them */
  async function hears(shop: Partial<CheckoutOptions>) {
    const listener = await provider.listen(shop);
    listeners.push(listener);
    return async (wanted: (event: StripeEvent) => boolean = () => true) => {
      const answers = [];
      for (const event of played.events.filter(wanted)) answers.push(await played.deliver(event, listener.url));
      return answers;
    };
  }

  /** Returns the only intent of an order. */
  function intentOf({ id }: TestOrder): StripeIntent {
    const [intent, ...others] = intentsOf(id);
    if (!intent || others.length > 0) throw new Error(`the order has ${others.length + 1} intents`);
    return intent;
  }

  return {
    ...provider,
    ...{ played, wire, alerts, options, inPage, onStripesPage, hears, intentsOf, intentOf },
    token: (number = VISA) => played.intents.createToken(number),
  };
}
