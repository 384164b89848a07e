import type { Checkout } from "../checkout.js";
import { publicAddress } from "../engine/addresses.js";
import type { CartView } from "../engine/engine.js";
import { CheckoutError, toCheckoutError } from "../engine/errors.js";
import type { Guesser } from "../engine/guess-limits.js";
import { createReport } from "../engine/observers.js";
import { checkNames } from "../option-names.js";
import { StoreError } from "../store/migrations.js";
import type { ApplyRequest, CardEntry, ShopError } from "../storefront.js";
import { readCardBody } from "./card-body.js";
import { attachedAddress } from "./shopper-address.js";

/** The options of the routes. */
export interface HandlerOptions {
  /** Returns the cart that a request may access, by the shop's own session or cookie, or null. */
  readonly cartOf: (request: Request) => Promise<CartView | null> | CartView | null;
  /** The path of the routes, which is the page's `endpoint`. Default `/giftcards`. */
  readonly path?: string;
  /** Returns the shopper's IP address, for the limits on guesses. Default: the address that `toNodeListener` found. */
  readonly addressOf?: (request: Request) => string | undefined;
  /** Other origins whose pages may call the routes, such as `https://www.shop.example`. Default: none. */
  readonly origins?: readonly string[];
  /**
   * Whether to check the origin of calls, and to send CORS headers. Set it to false only if a framework does that before.
   * Default true.
   */
  readonly checksOrigin?: boolean;
  /** Called with failures that aren't refusals. They contain no card. Default: logs to the console. */
  readonly onFailure?: (error: unknown) => void;
}

const known = ["cartOf", "path", "addressOf", "origins", "checksOrigin", "onFailure"];

/**
 * Makes the routes for `<giftcard-pay>` (see `/storefront`) as a function from a Web-standard request to a response.
 *
 * @throws {TypeError} naming an option that is missing or unknown
 */
export function createHandler(
  checkout: Pick<Checkout, "balance" | "list" | "quote" | "apply" | "remove">,
  options: HandlerOptions,
): (request: Request) => Promise<Response> {
  const { cartOf, path = "/giftcards", origins = [], checksOrigin = true } = options;
  const { addressOf = attachedAddress } = options;
  if (typeof cartOf !== "function") throw new TypeError("createHandler: cartOf has to be a function.");
  checkNames("createHandler", options, known);
  const report = createReport(options.onFailure ?? writeFailure);
  const base = path
    .split("/")
    .filter(Boolean)
    .map((part) => `/${part}`)
    .join("");
  const prefix = `${base}/carts/`;

  /** Returns what a guess of a balance counts for: the public IP address, or else the cart, or else a proxy's address. */
  async function guesserOf(request: Request): Promise<Guesser> {
    const address = addressOf(request);
    if (publicAddress(address) !== undefined) return { address };
    const cart = await cartOf(request);
    if (cart) return { cartId: cart.id, address: cart.address };
    if (address !== undefined) return { address };
    throw new UnknownShopper();
  }

  async function route(request: Request): Promise<unknown> {
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname.replace(/\/$/, "") === `${base}/balance`) {
      const from = await guesserOf(request);
      return checkout.balance((await readBody(request)) as unknown as CardEntry, from);
    }
    const [cartId, what, id, ...rest] = pathname.startsWith(prefix)
      ? pathname.slice(prefix.length).replace(/\/$/, "").split("/").map(decode)
      : [];
    const call = `${request.method} ${what ?? ""}${id === undefined ? "" : "/id"}`;
    const isKnown = ["GET ", "POST quote", "POST cards", "DELETE cards/id"].includes(call);
    if (!cartId || !isKnown || rest.length > 0) throw new NoSuchRoute();
    const own = await cartOf(request);
    if (!own || own.id !== cartId) throw new CheckoutError("cart_not_found");
    const cart = { ...own, address: own.address ?? addressOf(request) };
    if (call === "GET ") return checkout.list(cart);
    if (call === "DELETE cards/id") return checkout.remove(cart, id ?? "");
    const body = await readBody(request);
    if (call === "POST quote") return checkout.quote(cart, body as unknown as CardEntry);
    return checkout.apply(cart, body as unknown as ApplyRequest);
  }

  return async (request) => {
    const headers = new Headers({ "Cache-Control": "no-store", Vary: "Origin" });
    const origin = request.headers.get("origin");
    if (checksOrigin && origin !== null && origins.includes(origin)) {
      headers.set("Access-Control-Allow-Origin", origin);
      headers.set("Access-Control-Allow-Credentials", "true");
      headers.set("Access-Control-Expose-Headers", "Retry-After");
      if (request.method === "OPTIONS") {
        headers.set("Access-Control-Allow-Methods", "GET, POST, DELETE");
        headers.set("Access-Control-Allow-Headers", request.headers.get("access-control-request-headers") ?? "");
        return new Response(null, { status: 204, headers });
      }
    }
    try {
      if (checksOrigin && !isFromOwnPage(request, origins)) return refuse(403, wrongOrigin, headers);
      return Response.json(await route(request), { headers });
    } catch (error) {
      if (error instanceof NoSuchRoute) return refuse(404, noSuchRoute, headers);
      if (error instanceof UnknownShopper) return refuse(404, unknownShopper, headers);
      const refusal = toCheckoutError(error);
      if (refusal.code === "internal" || error instanceof StoreError) report(error);
      if (refusal.retryAfterSeconds !== undefined) headers.set("Retry-After", String(refusal.retryAfterSeconds));
      return refuse(refusal.status, refusal.toJSON(), headers);
    }
  };
}

/** Logs a failure with its stack trace, if the shop has no function of its own. */
export function writeFailure(error: unknown): void {
  console.error("giftcard-pay:", error instanceof Error ? (error.stack ?? error.name) : "unknown failure");
}

class NoSuchRoute extends Error {}
class UnknownShopper extends Error {}

const noSuchRoute: ShopError = { code: "invalid_request", message: "There is no such gift card route." };
const unknownShopper: ShopError = {
  code: "cart_not_found",
  message:
    "A card's balance is only shown to a shopper with a cart (cartOf) or a known address (the handler's addressOf).",
};
const wrongOrigin: ShopError = {
  code: "invalid_request",
  message: "Pages of this origin may not call this route. Add it to the handler's origins.",
};

const refuse = (status: number, body: ShopError, headers: Headers) => Response.json(body, { status, headers });

/** Whether a call is from an allowed page. Browsers always send its origin or site; other clients have no cookies to abuse. */
function isFromOwnPage(request: Request, origins: readonly string[]): boolean {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if (site === "same-origin" || site === "none") return true;
  if (origin !== null) return origin === new URL(request.url).origin || origins.includes(origin);
  return site === null;
}

function decode(part: string): string {
  try {
    // No id contains NUL, which PostgreSQL doesn't accept.
    if (!/%00/.test(part)) return decodeURIComponent(part);
  } catch {
    // Not valid UTF-8.
  }
  throw new NoSuchRoute();
}

async function readBody(request: Request): Promise<Record<string, unknown>> {
  // Only JSON, which a form on another site can't send.
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    throw new CheckoutError("invalid_request");
  }
  if (request.bodyUsed) throw new TypeError("The request's body was read before the gift card handler.");
  return readCardBody((request.body ?? []) as AsyncIterable<Uint8Array>);
}
