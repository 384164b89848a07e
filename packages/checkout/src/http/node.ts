import type { IncomingMessage, ServerResponse } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CheckoutError } from "../engine/errors.js";
import { createReport } from "../engine/observers.js";
import { writeFailure } from "./handler.js";
import { nameAddress } from "./shopper-address.js";

/** How a handler is tied to a Node server. */
export interface NodeListenerOptions {
  /**
   * The shop's own origin as browsers see it, such as `https://shop.example`, where a proxy stands before the server.
   * Default: `http://` and the request's host.
   */
  readonly origin?: string;
  /**
   * The header in which your own proxy writes the shopper's address, such as `x-forwarded-for`; of a list the last entry
   * counts, which is the one that your proxy wrote. Name it only where nobody reaches the server past the proxy.
   * Default: the address at the other end of the connection, unless that is a private one: it is a proxy's then.
   */
  readonly addressHeader?: string;
  /** Hears of what the handler throws, and of requests that it can't be given. Default: the console. */
  readonly onFailure?: (error: unknown) => void;
}

type Body = NonNullable<RequestInit["body"]>;

/** A request as Node, Express and others have it. */
type NodeRequest = IncomingMessage & { originalUrl?: string; body?: unknown };

/**
 * Lets a Web-standard handler answer in `node:http`, and in Express and others that give `req` and `res`. Bodies are
 * streamed both ways. Mount it before anything that reads bodies; behind `express.json()` it takes what that has read.
 *
 * @param handler such as `createHandler` makes
 * @returns a listener that never throws: what the handler throws is answered with 500, and told to `onFailure`
 */
export function toNodeListener(
  handler: (request: Request) => Promise<Response>,
  options: NodeListenerOptions = {},
): (req: NodeRequest, res: ServerResponse) => Promise<void> {
  const report = createReport(options.onFailure ?? writeFailure);
  return async (req, res) => {
    try {
      await write(await answer(req), res);
    } catch (error) {
      // A shopper who went away is no failure.
      const hasLeft = (error as { code?: unknown }).code === "ERR_STREAM_PREMATURE_CLOSE";
      if (!hasLeft) report(error);
      res.destroy();
    }
  };

  async function answer(req: NodeRequest): Promise<Response> {
    let request: Request;
    try {
      request = toRequest(req, options);
    } catch (error) {
      if (error instanceof BodyReadError) return fail(req, error);
      // What the Web's own rules refuse, such as a forbidden method or a broken address.
      return refuse(new CheckoutError("invalid_request"));
    }
    try {
      return await handler(request);
    } catch (error) {
      return fail(req, error);
    }
  }

  function fail(req: NodeRequest, error: unknown): Response {
    // What the body ended with is the shopper who went away before it was whole.
    if (error !== req.errored) report(error);
    return refuse(new CheckoutError("internal"));
  }
}

const refuse = (refusal: CheckoutError) => Response.json(refusal.toJSON(), { status: refusal.status });

function toRequest(req: NodeRequest, options: NodeListenerOptions): Request {
  const origin = options.origin ?? `http://${req.headers.host ?? "localhost"}`;
  const headers = new Headers();
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    headers.append(req.rawHeaders[i] ?? "", req.rawHeaders[i + 1] ?? "");
  }
  const hasBody = req.method !== "GET" && req.method !== "HEAD";
  const init: RequestInit & { duplex?: "half" } = { method: req.method ?? "GET", headers };
  if (hasBody) Object.assign(init, { body: bodyOf(req), duplex: "half" });
  // Express takes the part of the path that it mounted off `url`, and keeps the whole in `originalUrl`.
  const request = new Request(urlOf(req.originalUrl ?? req.url ?? "/", origin), init);
  nameAddress(request, addressOf(req, options.addressHeader));
  return request;
}

/** Whatever else a target names, such as `//other.example/…`, the origin is the shop's: pages are judged by it. */
function urlOf(target: string, origin: string): string {
  const { origin: own } = new URL(origin);
  if (target.startsWith("/")) return own + target;
  const { pathname, search } = new URL(target, own);
  return own + pathname + search;
}

class BodyReadError extends Error {
  override readonly name = "BodyReadError";
}

/** The body as it comes; or what a parser before this, such as `express.json()`, has made of it. */
function bodyOf(req: NodeRequest): Body {
  if (!req.readableDidRead) return Readable.toWeb(req) as Body;
  const { body } = req;
  if (typeof body === "string" || body instanceof Uint8Array) return body as Body;
  const isJson = /^application\/json\b/i.test(req.headers["content-type"] ?? "");
  if (isJson && body !== undefined) return JSON.stringify(body);
  throw new BodyReadError(
    "The request's body was read before toNodeListener: mount it before what reads bodies.",
  );
}

/** Addresses that no shopper comes from over the internet: whoever has one is a proxy, or on this machine. */
const privateAddresses = new BlockList();
for (const [net, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const)
  privateAddresses.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  privateAddresses.addSubnet(net, prefix, "ipv6");

function addressOf(req: NodeRequest, header: string | undefined): string | undefined {
  if (header !== undefined) {
    const value = req.headers[header.toLowerCase()];
    const list = Array.isArray(value) ? value.join(",") : value;
    return list?.split(",").at(-1)?.trim() || undefined;
  }
  const peer = req.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/i, "");
  if (peer === undefined) return undefined;
  return privateAddresses.check(peer, isIPv6(peer) ? "ipv6" : "ipv4") ? undefined : peer;
}

async function write(response: Response, res: ServerResponse): Promise<void> {
  if (res.destroyed) return response.body?.cancel(); // The shopper went away.
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
  // One header each: joined by commas they would be one cookie.
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  res.writeHead(response.status, headers);
  if (response.body) await pipeline(Readable.fromWeb(response.body as never), res);
  else res.end();
}
