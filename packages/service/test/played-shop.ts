import { execFileSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import tls from "node:tls";
import { feed, type ShopEvent, writeEvents } from "@giftcard-pay/events";

/** Answers one request to a shop's server. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A shop's HTTPS server, with a certificate that only its tests trust. */
export interface FakeShop {
  readonly url: string;
  /** The environment of a process that trusts the certificate. */
  readonly env: { readonly NODE_EXTRA_CA_CERTS: string };
  /** Makes this process trust the certificate too. */
  trust(): void;
  readonly requests: IncomingMessage[];
  answer: Answer;
  /** From now on, answers every request with a feed of these events. */
  serveFeed(events: Iterable<ShopEvent>): Promise<void>;
  close(): Promise<void>;
}

/** Starts a shop whose feed has no events yet. */
export async function startFakeShop(): Promise<FakeShop> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-shop-"));
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => path.join(folder, name)) as [string, string];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", ...kind, ...names, ...files], { stdio: "pipe" });
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    void shop.answer(request, response);
  };
  const server = https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) }, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const shop: FakeShop = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/feed.json`,
    env: { NODE_EXTRA_CA_CERTS: cert },
    trust: () => tls.setDefaultCACertificates([...tls.getCACertificates(), fs.readFileSync(cert, "utf8")]),
    requests,
    answer: asJson('{"events":[]}'),
    async serveFeed(events) {
      shop.answer = asJson(await feedOf(events));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      fs.rmSync(folder, { recursive: true });
    },
  };
  return shop;
}

/** Returns an answer with this text as JSON. */
export const asJson =
  (text: string | Uint8Array, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(200, { "Content-Type": "application/json", ...headers }).end(text);

/** Returns a feed of these events as `@giftcard-pay/events` writes it. */
export async function feedOf(events: Iterable<ShopEvent>): Promise<string> {
  let text = "";
  for await (const part of writeEvents(events, feed)) text += part;
  return text;
}

/** Returns an event that is many years ahead. */
export const show = (key: string, more: Partial<ShopEvent> = {}): ShopEvent => ({
  key,
  title: `Show ${key}`,
  organiser: "Zaal Noord BV",
  start: "2099-06-01T20:30:00",
  timeZone: "Europe/Amsterdam",
  venue: { name: "Zaal Noord", city: "Amsterdam" },
  genres: [],
  lineup: [],
  ticketLink: `https://tickets.example.nl/${key}`,
  state: "published",
  ...more,
});
