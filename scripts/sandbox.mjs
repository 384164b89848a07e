/** Pays, refunds and cancels orders in the real test mode of Stripe or Mollie, and compares the amounts there. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "./build.mjs";
import { command, UsageError } from "./lib/command.mjs";

const HELP = `Pays orders by a gift card and by Stripe's or Mollie's test mode, refunds and cancels them, and compares the amounts
there. The gift cards are in memory, so you only need a test key:

  npm run sandbox    with STRIPE_SECRET_KEY=sk_test_… in the environment
  npm run sandbox    with MOLLIE_API_KEY=test_…: shows an address of Mollie. Open it, and choose "Paid"

Exits with 1 if an amount is wrong. STRIPE_API_URL has another address of Stripe's API, such as a simulated one.
`;

const cents = (/** @type {number} */ amount) => /** @type {import("@giftcard-pay/client").Cents} */ (amount);
/** @typedef {import("@giftcard-pay/checkout/remainder").RemainderMethod} RemainderMethod */

const returnUrl = () => "https://shop.example/return";
const TEN_EURO = { id: "return-1", amountCents: cents(1000), rule: /** @type {const} */ ("remainder-first") };

await command({ help: HELP }, async ({ signal, say }) => {
  const { STRIPE_SECRET_KEY: stripeKey, MOLLIE_API_KEY: mollieKey } = process.env;
  if (stripeKey ? !/^[rs]k_test_/.test(stripeKey) : !mollieKey?.startsWith("test_"))
    throw new UsageError("Set STRIPE_SECRET_KEY (sk_test_…) or MOLLIE_API_KEY (test_…). Live keys are refused.");
  await build(["checkout"], { signal });
  if (stripeKey) await tryStripe(stripeKey, say);
  else await tryMollie(String(mollieKey), say, signal);
  say("all amounts are exact");
});

/** Opens a shop whose order of 74.98 is paid by a card with 75.00 and this method. @param {RemainderMethod} remainder */
async function openShop(remainder) {
  const { createCheckout } = await import("@giftcard-pay/checkout");
  const { createSqliteStore } = await import("@giftcard-pay/checkout/sqlite");
  const { createTestIssuer } = await import("@giftcard-pay/checkout/testing");
  const issuer = createTestIssuer();
  const store = await createSqliteStore({ file: ":memory:" });
  const sealingKeys = `1:${randomBytes(32).toString("base64")}`;
  const checkout = createCheckout({ issuer: issuer.client, store, sealingKeys, remainder });
  return {
    checkout,
    /** @param {unknown} [input] */
    async order(input) {
      const card = issuer.issueCard(7500);
      const cart = { id: randomUUID(), totalCents: cents(7498), currency: "EUR" };
      const { plan } = await checkout.apply(cart, { cardNumber: card.cardNumber, pin: card.pin });
      const { status } = await checkout.pay({ id: cart.id, cart, plan }, { input });
      const { remainderData } = (await checkout.read(cart.id)) ?? {};
      return { id: cart.id, card, status, data: JSON.parse(remainderData ?? "null") };
    },
  };
}

/** @param {string} key @param {(text: string) => void} say */
async function tryStripe(key, say) {
  const { default: Stripe } = await import("stripe");
  const { stripe, stripeCheckout } = await import("@giftcard-pay/checkout/stripe");
  const api = process.env.STRIPE_API_URL ? new URL(process.env.STRIPE_API_URL) : undefined;
  const client = new Stripe(key, {
    ...(api && { host: api.hostname, port: Number(api.port), protocol: /** @type {"http"} */ ("http") }),
  });
  const shared = { client, webhookSecret: "whsec_none", returnUrl };
  const page = stripe({ ...shared, parameters: () => ({ payment_method_types: ["card"] }) });
  const { checkout, order } = await openShop(page);
  const heldCents = async (/** @type {string} */ id) => {
    const intent = await client.paymentIntents.retrieve(id);
    const { data } = await client.refunds.list({ payment_intent: id });
    return intent.amount_received - data.reduce((sum, { amount }) => sum + amount, 0);
  };

  const paid = await order("pm_card_visa");
  assert.deepEqual([paid.status, paid.card.balanceCents, await heldCents(paid.data.intent)], ["paid", 2500, 2498]);
  say("paid: 50.00 by card, 24.98 by Stripe");
  await checkout.refund(paid.id, TEN_EURO);
  assert.deepEqual([paid.card.balanceCents, await heldCents(paid.data.intent)], [2500, 1498]);
  say("refunded in part: 10.00 by Stripe");
  await checkout.cancel(paid.id);
  assert.deepEqual([paid.card.balanceCents, await heldCents(paid.data.intent)], [7500, 0]);
  say("canceled: 50.00 are on the card again, and Stripe has refunded the rest");

  const declined = await order("pm_card_visa_chargeDeclined");
  await checkout.recover();
  assert.deepEqual([declined.status, declined.card.balanceCents], ["declined", 7500]);
  say("declined: the card has 75.00");

  const asked = await order("pm_card_authenticationRequired");
  assert.deepEqual([asked.status, asked.card.balanceCents], ["pending", 2500]);
  const abandoned = await checkout.abandon(asked.id);
  const { status } = await client.paymentIntents.retrieve(asked.data.intent);
  assert.deepEqual([abandoned.status, asked.card.balanceCents, status], ["declined", 7500, "canceled"]);
  say("the bank asked the shopper, who went back: the card has 75.00, the intent is canceled");

  const hosted = await openShop(stripeCheckout(shared));
  const redirected = await hosted.order();
  const session = await client.checkout.sessions.retrieve(redirected.data.session);
  assert.deepEqual([redirected.status, session.status, session.amount_total], ["pending", "open", 2498]);
  await hosted.checkout.abandon(redirected.id);
  const { status: ended } = await client.checkout.sessions.retrieve(redirected.data.session);
  assert.deepEqual([ended, redirected.card.balanceCents], ["expired", 7500]);
  say("Stripe's page was opened and left: the session is expired, the card has 75.00");
}

/** @param {string} key @param {(text: string) => void} say @param {AbortSignal} signal */
async function tryMollie(key, say, signal) {
  const { createMollieClient } = await import("@mollie/api-client");
  const { mollie } = await import("@giftcard-pay/checkout/mollie");
  const client = createMollieClient({ apiKey: key });
  const method = mollie({ client, returnUrl, webhookUrl: "https://shop.example/webhooks/mollie" });
  const { checkout, order } = await openShop(method);
  const { id, card, data } = await order();
  say(`open ${await method.url(data)} and choose "Paid" (24.98)`);
  let { status } = await checkout.confirm(id);
  for (; status === "pending"; { status } = await checkout.confirm(id)) await sleep(2000, undefined, { signal });
  const heldCents = async () => {
    const { amount, amountRefunded } = await client.payments.get(data.payment);
    return Math.round(100 * (Number(amount.value) - Number(amountRefunded?.value ?? 0)));
  };
  assert.deepEqual([status, card.balanceCents, await heldCents()], ["paid", 2500, 2498]);
  say("paid: 50.00 by card, 24.98 by Mollie");
  await checkout.refund(id, TEN_EURO);
  assert.deepEqual([card.balanceCents, await heldCents()], [2500, 1498]);
  say("refunded in part: 10.00 by Mollie");
  await checkout.cancel(id);
  assert.deepEqual([card.balanceCents, await heldCents()], [7500, 0]);
  say("canceled: 50.00 are on the card again, and Mollie has refunded the rest");
}
