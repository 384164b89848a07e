import type { IncomingMessage } from "node:http";
import { createMollieClient } from "@mollie/api-client";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import { type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.js";
import type { MolliePayment } from "../../../test/support/mollie-payments.js";
import { type PlayedMollie, startPlayedMollie } from "../../../test/support/played-mollie.js";
import { startTlsFront } from "../../../test/support/tls-front.js";
import type { CheckoutOptions } from "../src/index.js";
import { type MollieOptions, mollie, type PaymentAlert } from "../src/methods/mollie.js";
import { latest, type Stage, type TestOrder } from "./each-store.js";
import { withProvider } from "./providers.js";

/** Returns the operation of a call to Mollie: `create`, `get`, `cancel`, `capture`, `refund`, `refunds` or `release`. */
function operationOf({ method = "", url = "" }: IncomingMessage): string {
  const [, , , id, kind] = new URL(url, "http://mollie").pathname.split("/");
  if (kind === "refunds") return method === "GET" ? "refunds" : "refund";
  if (kind !== undefined) return kind === "captures" ? "capture" : "release";
  if (id === undefined) return "create";
  return method === "DELETE" ? "cancel" : "get";
}

/** Adds a simulated Mollie, called by Mollie's own SDK over a network that can fail. Both are new in each test. */
export function withMollie(stage: Stage) {
  const current = {} as { played: PlayedMollie; wire: FaultProxy; front: Awaited<ReturnType<typeof startTlsFront>> };
  const played = latest(() => current.played);
  const wire = latest(() => current.wire);
  const alerts: PaymentAlert[] = [];
  const listeners: { close(): Promise<unknown> }[] = [];
  // The SDK trusts only the authorities that it contains.
  beforeAll(() => void vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0"));
  afterAll(() => void vi.unstubAllEnvs());
  beforeEach(async () => {
    alerts.length = 0;
    current.played = await startPlayedMollie();
    current.wire = await startFaultProxy(played.url, operationOf);
    current.front = await startTlsFront(wire.url);
  });
  afterEach(async () => {
    for (const { close } of listeners.splice(0)) await close();
    wire.clear();
    await wire.release();
    await current.front.stop();
    await wire.stop();
    await played.stop();
  });

  const paymentsOf = (orderId: string): MolliePayment[] =>
    played.payments.all().filter(({ metadata }) => metadata?.orderId === orderId);
  const provider = withProvider(stage, (orderId) =>
    paymentsOf(orderId).reduce((sum, { id }) => sum + played.payments.heldCents(id), 0),
  );

  const method = (more: Partial<MollieOptions> = {}) =>
    mollie({
      client: createMollieClient({ apiKey: played.apiKey, apiEndpoint: `${current.front.url}/v2/` }),
      returnUrl: (orderId) => `https://shop.example/orders/${orderId}`,
      webhookUrl: "https://shop.example/webhook",
      timeoutMs: 2000,
      onAlert: (alert) => alerts.push(alert),
      ...more,
    });

  /** Serves the webhook of a shop. @returns a function that sends a payment's webhook there */
  async function hears(shop: Partial<CheckoutOptions>) {
    const listener = await provider.listen(shop);
    listeners.push(listener);
    return (paymentId: string) => played.deliver(paymentId, listener.url);
  }

  /** Returns the only payment of an order. */
  function paymentOf({ id }: TestOrder): MolliePayment {
    const [payment, ...others] = paymentsOf(id);
    if (!payment || others.length > 0) throw new Error(`the order has ${others.length + 1} payments`);
    return payment;
  }

  return { ...provider, played, wire, alerts, method, hears, paymentsOf, paymentOf };
}
