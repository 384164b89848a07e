import http from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type ClientOptions, createClient, type GiftcardClient } from "../../src/index.js";

/** A request as it was received. */
export interface Received {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** A response: status, headers and body, or a function that writes it. */
type Reply =
  | { status?: number; headers?: Record<string, string>; json?: unknown; text?: string }
  | ((response: http.ServerResponse) => void);

/** A simulated service of another vendor, which responds as a test defines. */
export interface ForeignService {
  readonly url: string;
  /** All requests, in order. */
  readonly received: Received[];
}

/** Starts a simulated service on a free port. It stops at the end of the test. */
export async function foreignService(answer: (request: Received, count: number) => Reply): Promise<ForeignService> {
  const received: Received[] = [];
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const seen = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
      };
      received.push(seen);
      const reply = answer(seen, received.length);
      if (typeof reply === "function") return reply(response);
      response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
      response.end(reply.text ?? JSON.stringify(reply.json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

export const secrets = {
  apiKey: "KEYsentinel0123456789012345678901234567890123456789012345678",
  cardNumber: "6064990000001234567",
  pin: "004711",
  email: "shop@example.test",
  password: "pa55-sentinel-wörd",
  cancelToken: "feedfacecafe0123456789abcdef",
};

/** Creates a client of a service, with an API key and a company. */
export function clientOf(service: { url: string }, options: Partial<ClientOptions> = {}): GiftcardClient {
  return createClient({
    baseUrl: service.url,
    apiKey: secrets.apiKey,
    companyId: 7,
    ...options,
  } as ClientOptions);
}

/** Returns the error that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`It did not fail, but returned ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
