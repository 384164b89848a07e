import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PlayedMollie, startPlayedMollie } from "../../../test/support/played-mollie.js";
import { startTlsFront } from "../../../test/support/tls-front.js";
import { openStage, type Stage } from "./support/stage.js";

const INTENT = `mutation { createMolliePaymentIntent(input: { redirectUrl: "https://shop.example/order" }) {
  ... on MolliePaymentIntent { url } ... on MolliePaymentIntentError { errorCode message }
} }`;

/** MolliePlugin 3.5.6, the newest on npm, only works in a Vendure whose `addPaymentToOrder` needs no transaction. */
const { version } = createRequire(import.meta.url)("@vendure/core/package.json") as { version: string };
const canUseMollie = version.startsWith("3.5.");

let mollie: PlayedMollie;
let front: Awaited<ReturnType<typeof startTlsFront>>;
let stage: Stage;
type Order = Awaited<ReturnType<Stage["order"]>>;

const paymentsOf = ({ code }: Order) => mollie.payments.all().filter(({ description }) => description === code);

/** Sends Mollie's webhook to the address that the plugin has given to Mollie. */
const notify = (payment: { id: string; webhookUrl?: string }) =>
  mollie.deliver(payment.id, stage.shop().url + new URL(String(payment.webhookUrl)).pathname);

describe.runIf(canUseMollie)("in a Vendure 3.5", () => {
  beforeAll(async () => {
    mollie = await startPlayedMollie();
    front = await startTlsFront(mollie.url);
    // The SDK trusts only the authorities that it contains.
    stage = await openStage({ env: { MOLLIE_URL: front.url, NODE_TLS_REJECT_UNAUTHORIZED: "0" } });
    const settings = { apiKey: mollie.apiKey, redirectUrl: "https://shop.example" };
    await stage
      .admin()
      .call("mutation ($input: CreatePaymentMethodInput!) { createPaymentMethod(input: $input) { id } }", {
        input: {
          ...{ code: "mollie", enabled: true, translations: [{ languageCode: "en", name: "Mollie", description: "" }] },
          handler: {
            code: "mollie-payment-handler",
            arguments: Object.entries(settings).map(([name, value]) => ({ name, value })),
          },
        },
      });
  });
  afterAll(async () => {
    await stage?.close();
    await front?.stop();
    await mollie?.stop();
  });

  test("Mollie charges the outstanding amount, and a canceled order is refunded by both", async () => {
    const order = await stage.order(7500);
    await order.payByCard();
    expect(await order.ask(INTENT)).toMatchObject({ url: expect.stringContaining("https://mollie.example/checkout/") });
    const [payment] = paymentsOf(order);
    if (!payment) throw new Error("Mollie has no payment");
    expect(payment.amount).toEqual({ value: "24.98", currency: "EUR" });
    mollie.payments.pay(payment.id);
    await notify(payment);
    await notify(payment);
    await expect.poll(async () => (await stage.admin().look(order.code)).state).toBe("PaymentSettled");
    expect(await stage.heldByCards(order)).toBe(5000);
    expect(await stage.bookedCents(order.code, "mollie")).toBe(2498);
    await stage.admin().cancel(order.id);
    await expect.poll(() => mollie.payments.heldCents(payment.id)).toBe(0);
    await expect.poll(() => stage.heldByCards(order)).toBe(0);
  });

  test("refunds a payment by Mollie that arrives after the cards were reversed", async () => {
    const order = await stage.order(7500);
    await order.payByCard();
    await order.ask(INTENT);
    const [payment] = paymentsOf(order);
    if (!payment) throw new Error("Mollie has no payment");
    await order.moveTo("AddingItems");
    await expect.poll(() => stage.heldByCards(order)).toBe(0);
    mollie.payments.pay(payment.id);
    await notify(payment);
    await expect.poll(() => mollie.payments.heldCents(payment.id)).toBe(0);
    expect(await stage.bookedCents(order.code, "mollie")).toBe(0);
  });
});

test.skipIf(canUseMollie)(
  "Vendure refuses to start if MolliePlugin can't record payments",
  { tags: "long" },
  async () => {
    await expect(openStage({ env: { MOLLIE_URL: "https://localhost" } })).rejects.toThrow(/MolliePlugin can't record/);
  },
);
