import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { createMollieClient } from "@mollie/api-client";
import Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type PlayedMollie, startPlayedMollie } from "../../../test/support/played-mollie.js";
import { type PlayedStripe, startPlayedStripe } from "../../../test/support/played-stripe.js";
import { startTlsFront } from "../../../test/support/tls-front.js";
import { mollie } from "../src/methods/mollie.js";
import { stripe, stripeCheckout } from "../src/methods/stripe.js";
import type { RemainderData, RemainderRequest } from "../src/remainder.js";
import { VISA } from "./with-stripe.js";

const requestOf = (data: RemainderData | null): RemainderRequest => ({
  ...{ orderId: "order_1", attemptId: "attempt_1", currency: "EUR", remainderCents: cents(2498), data },
});
const owner = { orderId: "order_1", attemptId: "attempt_1" };
const part = { id: "return_1", idempotencyKey: "attempt_1:1", amountCents: cents(1000) };
const contradiction = /contradict each other/;

/** Changes the fields of the next answer of a method. */
function lieOnce(client: object, method: string, fields: object): void {
  const real = Reflect.get(client, method) as (...args: unknown[]) => Promise<object>;
  Reflect.set(client, method, async (...args: unknown[]) => {
    Reflect.set(client, method, real);
    const answer = await Reflect.apply(real, client, args);
    return new Proxy(answer, { get: (target, name) => Reflect.get(name in fields ? fields : target, name) });
  });
}

describe("a Stripe that answers wrongly once", () => {
  let played: PlayedStripe;
  beforeAll(async () => {
    played = await startPlayedStripe();
  });
  afterAll(() => played.stop());

  function start() {
    const { hostname: host, port } = new URL(played.url);
    const client = new Stripe(played.apiKey, { host, port: Number(port), protocol: "http", telemetry: false });
    const options = { client, webhookSecret: played.webhookSecret, returnUrl: () => "https://shop.example" };
    return { client, inPage: stripe(options), onStripesPage: stripeCheckout(options) };
  }
  function newIntent({ isPaid = true } = {}) {
    const intent = played.intents.create({ amount: 2498, currency: "eur", metadata: owner });
    if (isPaid) played.intents.confirm(intent.id, played.intents.createMethod(VISA).id);
    return { intent, request: requestOf({ intent: intent.id }) };
  }

  async function newPage({ authorize }: ReturnType<typeof start>["onStripesPage"]): Promise<RemainderRequest> {
    let data: RemainderData = {};
    const keep = async (kept: RemainderData) => {
      data = kept;
    };
    const request = { ...requestOf(null), attemptId: randomUUID() };
    await authorize(request, { input: undefined, keep });
    return { ...request, data };
  }

  it("doesn't keep an open intent open: canceled counts only if it says so twice", async () => {
    const { client, inPage } = start();
    const { intent, request } = newIntent({ isPaid: false });
    lieOnce(client.paymentIntents, "retrieve", { status: "canceled" });
    await inPage.cancel(request);
    expect(intent.status).toBe("canceled");
  });

  it("doesn't keep an open page open: expired counts only if it says so twice", async () => {
    const { client, onStripesPage } = start();
    const request = await newPage(onStripesPage);
    lieOnce(client.checkout.sessions, "retrieve", { status: "expired" });
    await onStripesPage.cancel(request);
    expect(played.sessions.find(String(request.data?.session)).status).toBe("expired");
  });

  it("doesn't have a page that was paid taken for one without a payment", async () => {
    const { client, onStripesPage } = start();
    const request = await newPage(onStripesPage);
    const { id } = played.sessions.pay(String(request.data?.session), VISA);
    lieOnce(client.checkout.sessions, "retrieve", { payment_intent: null });
    await expect(onStripesPage.cancel(request)).rejects.toThrow(contradiction);
    await onStripesPage.cancel(request);
    expect(played.intents.takenCents(id)).toBe(0);
  });

  for (const status of ["canceled", "requires_payment_method", "processing"])
    it(`doesn't have a paid intent taken for ${status}`, async () => {
      const { client, inPage } = start();
      const { intent, request } = newIntent();
      for (const act of [inPage.status, inPage.cancel]) {
        lieOnce(client.paymentIntents, "retrieve", { status });
        await expect(act(request)).rejects.toThrow(contradiction);
      }
      await inPage.cancel(request);
      expect(played.intents.takenCents(intent.id)).toBe(0);
    });

  for (const status of ["canceled", "requires_payment_method"])
    it(`doesn't have a server's payment declined that was made (${status})`, async () => {
      const { client, inPage } = start();
      lieOnce(client.paymentIntents, "confirm", { status });
      const input = played.intents.createToken(VISA);
      const request = { ...requestOf(null), attemptId: `attempt_${status}` };
      await expect(inPage.authorize(request, { input, keep: async () => {} })).rejects.toThrow(contradiction);
    });

  it("doesn't have an intent paid without having received anything", async () => {
    const { client, inPage } = start();
    const { request } = newIntent({ isPaid: false });
    lieOnce(client.paymentIntents, "retrieve", { status: "succeeded" });
    await expect(inPage.status(request)).rejects.toThrow(contradiction);
  });

  it("doesn't keep a cent of a canceled payment", async () => {
    const { client, inPage } = start();
    const { intent, request } = newIntent();
    lieOnce(client.paymentIntents, "retrieve", { amount_received: 2497 });
    await inPage.cancel(request);
    expect(played.intents.takenCents(intent.id)).toBe(0);
  });

  it("doesn't have a part refunded twice", async () => {
    const { client, inPage } = start();
    const { intent, request } = newIntent();
    await inPage.refund(request, { ...part, idempotencyKey: intent.id });
    const [made] = played.refunds.all().filter((refund) => refund.payment_intent === intent.id);
    const real = client.refunds.list;
    client.refunds.list = (() => {
      client.refunds.list = real;
      return [{ ...made, status: "failed" }];
    }) as unknown as typeof real;
    await expect(inPage.refund(request, { ...part, idempotencyKey: intent.id })).rejects.toThrow(contradiction);
    await inPage.refund(request, { ...part, idempotencyKey: intent.id });
    expect(played.intents.takenCents(intent.id)).toBe(1498);
  });

  it("doesn't have a refund made smaller", async () => {
    const { client, inPage } = start();
    const { intent, request } = newIntent();
    const refund = () => inPage.refund(request, { ...part, idempotencyKey: intent.id });
    lieOnce(client.paymentIntents, "retrieve", { amount_received: 500 });
    await expect(refund()).rejects.toThrow(contradiction);
    const real = client.refunds.list;
    client.refunds.list = (() => {
      client.refunds.list = real;
      return [{ amount: 2000, status: "succeeded" }];
    }) as unknown as typeof real;
    await expect(refund()).rejects.toThrow(contradiction);
    expect(played.intents.takenCents(intent.id)).toBe(2498);
    await refund();
    expect(played.intents.takenCents(intent.id)).toBe(1498);
  });

  it("doesn't have a payment kept without its id", async () => {
    const { client, inPage, onStripesPage } = start();
    const kept: RemainderData[] = [];
    const keep = async (data: RemainderData) => void kept.push(data);
    lieOnce(client.paymentIntents, "create", { id: undefined });
    lieOnce(client.checkout.sessions, "create", { id: undefined });
    for (const method of [inPage, onStripesPage]) {
      const request = { ...requestOf(null), attemptId: `attempt_${kept.length}_${method === inPage}` };
      await expect(method.authorize(request, { input: undefined, keep })).rejects.toThrow(/has no id/);
    }
    expect(kept).toEqual([]);
  });
});

describe("a Mollie that answers wrongly once", () => {
  let played: PlayedMollie;
  let front: Awaited<ReturnType<typeof startTlsFront>>;
  beforeAll(async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    played = await startPlayedMollie();
    front = await startTlsFront(played.url);
  });
  afterAll(async () => {
    await front.stop();
    await played.stop();
    vi.unstubAllEnvs();
  });

  function start() {
    const client = createMollieClient({ apiKey: played.apiKey, apiEndpoint: `${front.url}/v2/` });
    const webhookUrl = "https://shop.example/webhook";
    return { client, method: mollie({ client, webhookUrl, returnUrl: () => "https://shop.example" }) };
  }
  function newPayment(how: "open" | "pending" | "paid" = "paid") {
    played.payments.create({
      ...{ amount: { currency: "EUR", value: "24.98" }, description: "Order", metadata: owner },
      redirectUrl: "https://shop.example",
    });
    const payment = played.payments.all().at(-1);
    if (!payment) throw new Error("there is no payment");
    if (how !== "open") played.payments.pay(payment.id, how);
    return { payment, request: requestOf({ payment: payment.id }) };
  }

  for (const status of ["paid", "authorized"])
    it(`doesn't have an open payment taken for ${status}`, async () => {
      const { client, method } = start();
      const { request } = newPayment("open");
      lieOnce(client.payments, "get", { status });
      await expect(method.status(request)).rejects.toThrow(contradiction);
      expect(await method.status(request)).toEqual({ status: "pending" });
    });

  it("pays if two answers without a date say so", async () => {
    const { method } = start();
    const { payment, request } = newPayment();
    delete payment.paidAt;
    expect(await method.status(request)).toMatchObject({ status: "authorized", amountCents: 2498 });
  });

  for (const status of ["open", "failed", "canceled", "expired"])
    it(`doesn't have a paid payment taken for ${status}`, async () => {
      const { client, method } = start();
      const { payment, request } = newPayment();
      for (const act of [method.status, method.cancel]) {
        lieOnce(client.payments, "get", { status });
        await expect(act(request)).rejects.toThrow(contradiction);
      }
      await method.cancel(request);
      expect(played.payments.heldCents(payment.id)).toBe(0);
    });

  it("doesn't keep a bank transfer open: expired counts only if it says so twice", async () => {
    const { client, method } = start();
    const { payment, request } = newPayment("pending");
    played.payments.allowCancel(payment.id);
    lieOnce(client.payments, "get", { status: "expired" });
    await method.cancel(request);
    expect(payment.status).toBe("canceled");
  });

  it("doesn't keep a cent of a canceled payment", async () => {
    const { client, method } = start();
    const { payment, request } = newPayment();
    lieOnce(client.payments, "get", { amount: { currency: "EUR", value: "24.97" } });
    await method.cancel(request);
    expect(played.payments.heldCents(payment.id)).toBe(0);
  });

  it("doesn't have a part refunded twice", async () => {
    const { client, method } = start();
    const { payment, request } = newPayment();
    const refund = () => method.refund(request, { ...part, idempotencyKey: payment.id });
    await refund();
    const real = client.paymentRefunds.iterate;
    const made = played.payments.refunds().filter(({ paymentId }) => paymentId === payment.id);
    client.paymentRefunds.iterate = (() => {
      client.paymentRefunds.iterate = real;
      return made.map((one) => ({ ...one, status: "failed" }));
    }) as unknown as typeof real;
    await expect(refund()).rejects.toThrow(contradiction);
    await refund();
    expect(played.payments.heldCents(payment.id)).toBe(1498);
  });

  it("doesn't have a refund made smaller", async () => {
    const { client, method } = start();
    const { payment, request } = newPayment();
    const refund = () => method.refund(request, { ...part, idempotencyKey: payment.id });
    const real = client.paymentRefunds.iterate;
    client.paymentRefunds.iterate = (() => {
      client.paymentRefunds.iterate = real;
      return [{ amount: { currency: "EUR", value: "20.00" }, status: "refunded" }];
    }) as unknown as typeof real;
    await expect(refund()).rejects.toThrow(contradiction);
    expect(played.payments.heldCents(payment.id)).toBe(2498);
    await refund();
    expect(played.payments.heldCents(payment.id)).toBe(1498);
  });

  it("doesn't have a payment kept without its id", async () => {
    const { client, method } = start();
    lieOnce(client.payments, "create", { id: undefined });
    const keep = async () => expect.unreachable();
    await expect(method.authorize(requestOf(null), { input: undefined, keep })).rejects.toThrow(/has no id/);
  });
});
