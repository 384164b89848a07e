import { expect } from "vitest";
import { newCart, type Shop } from "./shop.js";

/** An origin that a mounted handler has to list in `origins`. */
export const NAMED_ORIGIN = "https://your.shop";

/** Makes a cart of 74.98, and the cookie that `cartOf` has to find it by. */
export function newSession() {
  const cart = newCart(7498);
  return { cart, cookie: `cart=${cart.id}` };
}

/**
 * Calls a handler that is mounted in a server over HTTP, as pages do. It has to respond as it does without the server.
 *
 * @param base the address that a page names as `endpoint`
 */
export async function callMounted(base: string, shop: Shop, session = newSession()): Promise<void> {
  const { cart, cookie } = session;
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${base}/${path}`, {
      method,
      headers: { cookie, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : JSON.parse(text),
    };
  };
  const own = `carts/${cart.id}`;
  const { cardNumber, pin } = await shop.card(500);
  const card = { cardNumber, pin };

  expect((await call("POST", "balance", card)).body).toMatchObject({ balanceCents: 500 });
  const quoted = await call("POST", `${own}/quote`, card, { origin: NAMED_ORIGIN });
  expect([quoted.status, quoted.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(quoted.headers.get("access-control-allow-origin")).toBe(NAMED_ORIGIN);
  const applied = await call("POST", `${own}/cards`, { quoteId: quoted.body.quoteId });
  expect(applied.body).toMatchObject({ coveredCents: 500, remainderCents: 6998 });
  const sameOrigin = { origin: "http://inside:8080", "sec-fetch-site": "same-origin" };
  expect((await call("GET", own, undefined, sameOrigin)).body).toEqual(applied.body);

  const refusals = [
    [await call("GET", own, undefined, { cookie: "" }), 404, "cart_not_found"],
    [await call("GET", own, undefined, { origin: "https://evil.example" }), 403, "invalid_request"],
    [await call("POST", `${own}/cards`, { cardNumber, pin: "wrong" }), 400, "invalid_card"],
    [await call("POST", `${own}/cards`, "x".repeat(5000)), 400, "invalid_request"],
    [await call("POST", `${own}/cards`, card, { "content-type": "text/plain" }), 400, "invalid_request"],
    [await call("GET", "nothing"), 404, "invalid_request"],
  ] as const;
  for (const [answer, status, code] of refusals) {
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(JSON.stringify(answer.body)).not.toContain(cardNumber.slice(0, 8));
  }
  const asked = { origin: NAMED_ORIGIN, "access-control-request-headers": "content-type" };
  const preflight = await call("OPTIONS", own, undefined, asked);
  expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([204, "GET, POST, DELETE"]);
  const removed = await call("DELETE", `${own}/cards/${applied.body.cards[0].id}`);
  expect(removed.body).toMatchObject({ coveredCents: 0, cards: [] });
}
