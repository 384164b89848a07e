import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { publicAddress } from "../engine/addresses.js";
import { CheckoutError } from "../engine/errors.js";
import { createReport } from "../engine/observers.js";
import { writeFailure } from "./handler.js";
import { setAddress } from "./shopper-address.js";

/** The options of a handler on a Node server. */
export interface NodeListenerOptions {
  /**
   * The shop's public origin, such as `https://shop.example`, if the server is behind a proxy. Default: `http://` and the
   * request's host.
   */
  readonly origin?: string;
  /**
   * The header in which your own proxy sends the shopper's IP address, such as `x-forwarded-for`. The last entry of a list
   * counts, which your proxy has added. Set it only if the server can't be reached without the proxy. Default: the address of
   * the connection. Addresses that aren't public never count, since many shoppers share them.
   */
  readonly addressHeader?: string | undefined;
  /** Called with errors of the handler, and of requests that can't be passed to it. Default: logs to the console. */
  readonly onFailure?: (error: unknown) => void;
}

type Body = NonNullable<RequestInit["body"]>;

/** A request of Node, Express and others. */
type NodeRequest = IncomingMessage & { originalUrl?: string; body?: unknown };

/**
 * Converts a Web-standard handler to a listener for `node:http`, Express, and others with `req` and `res`. Bodies are
 * streamed both ways. Mount it before anything that reads bodies; after `express.json()`, it uses the parsed body.
 *
 * @param handler such as the one of `createHandler`
 * @returns a listener that never throws: errors of the handler are answered with 500, and reported to `onFailure`
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
      // A closed connection is no failure.
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
      // The Web's Request refuses it, for example because of a forbidden method or an invalid URL.
      return refuse(new CheckoutError("invalid_request"));
    }
    try {
      return await handler(request);
    } catch (error) {
      return fail(req, error);
    }
  }

  function fail(req: NodeRequest, error: unknown): Response {
    // The error of the body is a connection that was closed early.
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
  // Express removes the mount path from `url`; `originalUrl` has the whole path.
  const request = new Request(urlOf(req.originalUrl ?? req.url ?? "/", origin), init);
  setAddress(request, namedAddress(req, options.addressHeader));
  return request;
}

/** Returns the URL of a request, always with the shop's origin, even for `//other.example/…`: origins are checked against it. */
function urlOf(target: string, origin: string): string {
  const { origin: own } = new URL(origin);
  if (target.startsWith("/")) return own + target;
  const { pathname, search } = new URL(target, own);
  return own + pathname + search;
}

class BodyReadError extends Error {
  override readonly name = "BodyReadError";
}

/** Returns the body as a stream, or as parsed by a middleware such as `express.json()`. */
function bodyOf(req: NodeRequest): Body {
  if (!req.readableDidRead) return Readable.toWeb(req) as Body;
  const { body } = req;
  if (typeof body === "string" || body instanceof Uint8Array) return body as Body;
  const isJson = /^application\/json\b/i.test(req.headers["content-type"] ?? "");
  if (isJson && body !== undefined) return JSON.stringify(body);
  throw new BodyReadError(
    "The request's body was read before toNodeListener. Mount it before anything that reads bodies.",
  );
}

/**
 * Returns the shopper's IP address, for the limits on guesses; undefined if it isn't public, and therefore a proxy's.
 * @param header as `NodeListenerOptions.addressHeader`
 */
export const addressOf = (req: IncomingMessage, header?: string): string | undefined =>
  publicAddress(namedAddress(req, header));

function namedAddress(req: IncomingMessage, header: string | undefined): string | undefined {
  if (header === undefined) return req.socket.remoteAddress;
  const value = req.headers[header.toLowerCase()];
  const list = Array.isArray(value) ? value.join(",") : value;
  return list?.split(",").at(-1)?.trim() || undefined;
}

async function write(response: Response, res: ServerResponse): Promise<void> {
  if (res.destroyed) return response.body?.cancel(); // The connection was closed.
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
  // Separate headers: joined by commas, they would be a single cookie.
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  res.writeHead(response.status, headers);
  if (response.body) await pipeline(Readable.fromWeb(response.body as never), res);
  else res.end();
}
