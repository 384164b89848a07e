import { randomBytes } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { MolliePayments, MollieRefusal } from "./mollie-payments.js";

/** A call that arrived. */
interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly status: number;
}

export interface PlayedMollie {
  /** The endpoint for the SDK. */
  readonly url: string;
  readonly apiKey: string;
  /** The payments with their refunds, and their money. */
  readonly payments: MolliePayments;
  readonly calls: readonly SeenCall[];
  /** Sends a payment's webhook now, as Mollie does after a change: only its id. @returns the HTTP status of the response */
  deliver(paymentId: string, address: string): Promise<number>;
  /** Forgets all idempotency keys, as Mollie does after an hour. */
  forgetKeys(): void;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: object | null;
}

type Body = Readonly<Record<string, unknown>>;
type Route = readonly [RegExp, readonly string[], (id: string, body: Body) => Answer];

const PAYMENT_FIELDS = [
  ...["amount", "description", "redirectUrl", "cancelUrl", "webhookUrl", "metadata", "method", "locale", "captureMode"],
  ...["billingAddress", "shippingAddress", "restrictPaymentMethodsToCountry", "lines"],
];

/** Creates the routes of Mollie's API that a shop calls, each with the parameters that it knows. */
function createRoutes(payments: MolliePayments): Route[] {
  const payment = "/v2/payments/(tr_\\w+)";
  const route = (line: string, fields: readonly string[], run: Route[2]): Route => [
    new RegExp(`^${line}$`),
    fields,
    run,
  ];
  return [
    route("POST /v2/payments", PAYMENT_FIELDS, (_, body) => ({ status: 201, body: payments.create(body as never) })),
    route(`GET ${payment}`, [], (id) => ({ status: 200, body: payments.show(id) })),
    route(`DELETE ${payment}`, [], (id) => ({ status: 200, body: payments.cancel(id) })),
    route(`POST ${payment}/release-authorization`, [], (id) => {
      payments.release(id);
      return { status: 202, body: null };
    }),
    route(`POST ${payment}/captures`, ["amount", "description", "metadata"], (id) => ({
      ...{ status: 201, body: payments.capture(id) },
    })),
    route(`POST ${payment}/refunds`, ["amount", "description", "metadata"], (id, body) => ({
      ...{ status: 201, body: payments.refund(id, body as never) },
    })),
    route(`GET ${payment}/refunds`, ["limit", "from"], (id) => ({ status: 200, body: payments.listRefunds(id) })),
  ];
}

/** Starts a simulated Mollie on 127.0.0.1 for a shop that uses Mollie's SDK. */
export async function startPlayedMollie(): Promise<PlayedMollie> {
  const apiKey = `test_${randomBytes(15).toString("hex")}`;
  const payments = new MolliePayments();
  const calls: SeenCall[] = [];
  const done = new Map<string, Answer & { readonly asked: string }>();
  const routes = createRoutes(payments);

  function run(method: string, address: URL, text: string): Answer {
    const line = `${method} ${address.pathname}`;
    const [pattern, fields, act] = routes.find(([known]) => known.test(line)) ?? [];
    if (!pattern || !fields || !act) throw new MollieRefusal(404, `No route for ${line}`);
    const body = (
      method === "GET" || text === "" ? Object.fromEntries(address.searchParams) : JSON.parse(text)
    ) as Body;
    const unknown = Object.keys(body).find((name) => !fields.includes(name));
    if (unknown !== undefined) throw new MollieRefusal(422, `Non-existent body parameter "${unknown}"`, unknown);
    return structuredClone(act(pattern.exec(line)?.[1] ?? "", body));
  }

  function answer(method: string, address: URL, text: string, bearer: string, key: string | null): Answer {
    try {
      if (bearer !== `Bearer ${apiKey}`)
        throw new MollieRefusal(401, "Missing authentication, or failed to authenticate");
      if (key === null || method !== "POST") return run(method, address, text);
      const asked = `${address.pathname} ${text}`;
      const before = done.get(key);
      if (before && before.asked !== asked) throw new MollieRefusal(409, "The key was used with other parameters");
      const first = before ?? { asked, ...run(method, address, text) };
      done.set(key, first);
      return first;
    } catch (error) {
      if (!(error instanceof MollieRefusal)) throw error;
      const { status, message: detail, field } = error;
      return { status, body: { status, title: "Refused", detail, ...(field && { field }), _links: {} } };
    }
  }

  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "GET", headers } = request;
    const address = new URL(request.url ?? "/", "http://mollie");
    const header = headers["idempotency-key"];
    const key = typeof header === "string" ? header : null;
    const text = Buffer.concat(chunks).toString();
    const { status, body } = answer(method, address, text, headers.authorization ?? "", key);
    calls.push({ method, path: address.pathname, key, status });
    response.writeHead(status, { "content-type": "application/hal+json" });
    response.end(body === null ? "" : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey, payments, calls },
    async deliver(paymentId, address) {
      const response = await fetch(address, { method: "POST", body: new URLSearchParams({ id: paymentId }) });
      await response.arrayBuffer();
      return response.status;
    },
    forgetKeys: () => done.clear(),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
