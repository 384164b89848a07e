import { createHmac, randomBytes } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { checkFields, readForm, type StripeForm, textOf, textsOf } from "./stripe-form.js";
import { StripeIntents } from "./stripe-intents.js";
import { invalid, newId, now, type StripeIntent, StripeRefusal } from "./stripe-objects.js";
import { type StripeRefund, StripeRefunds } from "./stripe-refunds.js";
import { createRoutes, type StripeCustomer, type StripeRoute } from "./stripe-routes.js";
import { type StripeSession, StripeSessions } from "./stripe-sessions.js";

/** A dispute of Stripe's, with the fields that a shop or test reads. */
interface StripeDispute {
  readonly id: string;
  readonly object: "dispute";
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  readonly status: "needs_response";
}

/** The body of a webhook, with the object as it was at the time of the event. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly object: StripeIntent | StripeRefund | StripeSession | StripeDispute };
}

/** A call that arrived. */
export interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly status: number;
  /** Whether the response is a replay of an earlier call with the same key. */
  readonly isReplayed: boolean;
}

export interface PlayedStripe {
  /** The base URL for the calls of the SDK and the page. */
  readonly url: string;
  readonly apiKey: string;
  readonly publishableKey: string;
  readonly webhookSecret: string;
  /** A stand-in for https://js.stripe.com/…/stripe.js that calls this Stripe. */
  readonly script: string;
  /** All intents, and each movement of money with its Idempotency-Key. */
  readonly intents: StripeIntents;
  readonly refunds: StripeRefunds;
  readonly sessions: StripeSessions;
  readonly customers: readonly Readonly<StripeCustomer>[];
  readonly calls: readonly SeenCall[];
  readonly events: readonly StripeEvent[];
  /** Pays an intent by a card's number or an IBAN, as the shopper's page does. */
  confirm(clientSecret: string, number: string): Promise<{ status: number; body: unknown }>;
  /** Completes or fails the authentication that the shopper's bank asks for. */
  authenticate(clientSecret: string, outcome?: "succeed" | "fail"): Promise<{ status: number; body: unknown }>;
  /** Forgets all idempotency keys, as Stripe does after a day. */
  forgetKeys(): void;
  /** The shopper disputes a payment. */
  dispute(intentId: string): void;
  /** Sends a webhook now. @returns the HTTP status of the shop's response */
  deliver(event: StripeEvent, address: string): Promise<number>;
  /** Sets the address for later webhooks. If null, as at first, only `deliver` sends them. */
  sendWebhooksTo(address: string | null): void;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** The first response to each idempotency key. */
type Done = Map<string, Answer & { readonly asked: string }>;

const WEBHOOK_TRIES = 3;
/**
 * Starts a simulated Stripe on 127.0.0.1 for a shop's real provider and SDK, and for a page. The card numbers are those
 * of Stripe's test mode: 4242424242424242 succeeds, 4000002500003155 requires authentication, and 4000000000000002 is
 * declined. A debit from IBAN DE89370400440532013000 succeeds after processing; one from DE62370400440532013001 fails.
 */
export async function startPlayedStripe({
  webhookSecret = `whsec_${randomBytes(16).toString("hex")}`,
}: {
  webhookSecret?: string;
} = {}): Promise<PlayedStripe> {
  const apiKey = `sk_test_${randomBytes(12).toString("hex")}`;
  const publishableKey = `pk_test_${randomBytes(12).toString("hex")}`;
  const events: StripeEvent[] = [];
  const calls: SeenCall[] = [];
  const customers: StripeCustomer[] = [];
  const webhooks = createWebhooks(webhookSecret);
  const tell = (type: string, object: StripeEvent["data"]["object"]) => {
    const data = { object: structuredClone(object) };
    const event = { id: newId("evt"), object: "event", created: now(), type, data };
    events.push(event);
    webhooks.tell(event);
  };
  const intents = new StripeIntents((type, intent) => tell(`payment_intent.${type}`, intent));
  const refunds = new StripeRefunds(intents, tell);
  const sessions = new StripeSessions(intents, (type, session) => tell(`checkout.session.${type}`, session));
  const routes = createRoutes({ intents, refunds, sessions, customers });
  const done: Done = new Map();
  const perform = createDesk(routes, intents, { apiKey, publishableKey }, done);
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "GET", url: path = "/" } = request;
    const headers = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
    if (method === "OPTIONS") return void response.writeHead(204, headers).end();
    const key = request.headers["idempotency-key"];
    const bearer = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const call = { method, path, bearer, key: typeof key === "string" ? key : null };
    const { status, body, isReplayed } = perform(call, Buffer.concat(chunks).toString());
    calls.push({ method, path: path.split("?")[0] as string, key: call.key, status, isReplayed });
    const replayed = isReplayed ? { "idempotent-replayed": "true" } : {};
    response.writeHead(status, {
      ...headers,
      ...replayed,
      "content-type": "application/json",
      "request-id": newId("req"),
    });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function callAsPage(clientSecret: string, action: string, fields: Record<string, string>) {
    const [id] = clientSecret.split("_secret_");
    const response = await fetch(`${url}/v1/payment_intents/${id}/${action}`, {
      method: "POST",
      headers: { authorization: `Bearer ${publishableKey}` },
      body: new URLSearchParams({ client_secret: clientSecret, ...fields }),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  }

  return {
    ...{ url, apiKey, publishableKey, webhookSecret, intents, refunds, sessions, customers, calls, events },
    script: `const PLAYED_STRIPE_URL = ${JSON.stringify(url)};\n${readPage()}`,
    confirm: (clientSecret, number) =>
      callAsPage(clientSecret, "confirm", { "payment_method_data[card][number]": number }),
    authenticate: (clientSecret, outcome = "succeed") => callAsPage(clientSecret, "authenticate", { outcome }),
    forgetKeys: () => done.clear(),
    dispute: (intentId) => {
      const { amount, currency } = intents.find(intentId);
      const object = { object: "dispute", amount, currency, payment_intent: intentId } as const;
      tell("charge.dispute.created", { id: newId("dp"), ...object, status: "needs_response" });
    },
    deliver: webhooks.deliver,
    sendWebhooksTo: webhooks.sendTo,
    stop: async () => {
      webhooks.sendTo(null);
      await webhooks.delivered();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const readPage = () => stripTypeScriptTypes(fs.readFileSync(new URL("stripe-page.ts", import.meta.url), "utf8"));

/** Checks that a caller is authorized, and replays the response if the Idempotency-Key was used before. */
function createDesk(
  routes: StripeRoute[],
  intents: StripeIntents,
  keys: { apiKey: string; publishableKey: string },
  done: Done,
) {
  function answer(run: () => object): Answer {
    try {
      return { status: 200, body: structuredClone(run()) };
    } catch (error) {
      if (error instanceof StripeRefusal) return { status: error.status, body: { error: error.fault } };
      throw error;
    }
  }

  /** @throws {StripeRefusal} before anything is done */
  function admit(method: string, address: URL, bearer: string, text: string) {
    const line = `${method} ${address.pathname}`;
    const route = routes.find(({ pattern }) => pattern.test(line));
    if (!route) throw invalid({ message: `Unrecognized request URL (${line}).` }, 404);
    const id = route.pattern.exec(line)?.[1] ?? "";
    const form = readForm(method === "GET" ? address.search : text);
    const isPage = route.isOpen === true && bearer === keys.publishableKey;
    if (!isPage && bearer !== keys.apiKey) throw invalid({ message: "Invalid API Key provided" }, 401);
    if (isPage && id !== "" && form.client_secret !== intents.find(id).client_secret)
      throw invalid({ param: "client_secret", message: "The client_secret provided does not match." });
    checkFields(form, route.fields);
    textOf(form, "payment_method");
    return { route, id, form };
  }

  return (
    { method, path, bearer, key }: { method: string; path: string; bearer: string; key: string | null },
    text: string,
  ): Answer & { isReplayed: boolean } => {
    const address = new URL(path, "http://stripe");
    let isReplayed = false;
    const result = answer(() => {
      const { route, id, form } = admit(method, address, bearer, text);
      const show = (body: object) => expand(body, form, intents);
      if (key === null || method !== "POST") return show(route.run({ id, form, key }));
      const asked = `${address.pathname} ${text}`;
      const before = done.get(key);
      if (before && before.asked !== asked) {
        const message = `Keys for idempotent requests can only be used with the same parameters: ${key}`;
        throw new StripeRefusal(400, { type: "idempotency_error", message });
      }
      const first = before ?? { asked, ...answer(() => show(route.run({ id, form, key }))) };
      isReplayed = before !== undefined;
      done.set(key, first);
      if (first.status === 200) return first.body;
      const { error } = first.body as { error: StripeRefusal["fault"] };
      throw new StripeRefusal(first.status, error);
    });
    return { ...result, isReplayed };
  };
}

/** Replaces a payment method's id by the payment method, if the call asks to expand it. */
function expand(body: object, form: StripeForm, intents: StripeIntents): object {
  const { payment_method: id } = body as Partial<StripeIntent>;
  const isAsked = Object.values(textsOf(form, "expand")).includes("payment_method");
  return isAsked && id ? { ...body, payment_method: intents.findMethod(id) } : body;
}

/** Creates the sender of webhooks. It signs them as Stripe's SDK expects. */
function createWebhooks(secret: string) {
  let address: string | null = null;
  const under = new Set<Promise<unknown>>();

  async function deliver(event: StripeEvent, to: string): Promise<number> {
    const body = JSON.stringify(event);
    const moment = now();
    const signature = createHmac("sha256", secret).update(`${moment}.${body}`).digest("hex");
    const response = await fetch(to, {
      method: "POST",
      headers: { "content-type": "application/json", "stripe-signature": `t=${moment},v1=${signature}` },
      body,
    });
    await response.arrayBuffer();
    return response.status;
  }

  async function deliverAtLast(event: StripeEvent, to: string): Promise<void> {
    for (let tries = 1; tries <= WEBHOOK_TRIES; tries += 1) {
      const status = await deliver(event, to).catch(() => 0);
      if (status >= 200 && status < 300) return;
    }
  }

  return {
    deliver,
    sendTo: (to: string | null) => {
      address = to;
    },
    tell: (event: StripeEvent) => {
      if (address === null) return;
      const delivery: Promise<void> = deliverAtLast(event, address).finally(() => under.delete(delivery));
      under.add(delivery);
    },
    delivered: () => Promise.allSettled(under),
  };
}
