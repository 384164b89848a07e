import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Cents } from "@giftcard-pay/client";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readBlock } from "../../../test/support/page-blocks.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { toNodeListener } from "../src/http/node.js";
import {
  type CartView,
  type Checkout,
  createCheckout,
  createHandler,
  createPostgresStore,
  type HandlerOptions,
} from "../src/index.js";
import { callMounted, NAMED_ORIGIN, newSession as newCookie } from "./mounted.js";
import { type Shop, sealingKeys, startShop } from "./shop.js";

let shop: Shop;
let pool: pg.Pool;
let checkout: Checkout;
/** A shop's sessions: carts by cookie. */
const carts = new Map<string, CartView>();
const cartOf = (request: Request) => carts.get(request.headers.get("cookie") ?? "") ?? null;

beforeAll(async () => {
  shop = await startShop();
  pool = new pg.Pool({ connectionString: await testDatabase() });
  const store = createPostgresStore({ pool });
  await store.migrate();
  checkout = createCheckout({ issuer: shop.client, environment: "sandbox", store, sealingKeys });
});
afterAll(async () => {
  await pool.end();
  await shop.stop();
});

function newSession() {
  const session = newCookie();
  carts.set(session.cookie, session.cart);
  return session;
}

const ORIGIN = "https://shop.example";
const JSON_TYPE = { "content-type": "application/json" };

/** Calls the handler as a page of the shop does. */
function call(
  method: string,
  path: string,
  cookie: string,
  body?: unknown,
  headers: Record<string, string> = {},
  options: Partial<HandlerOptions> = {},
) {
  const handler = createHandler(checkout, { cartOf, origins: ["https://www.shop.example"], ...options });
  return handler(
    new Request(`${ORIGIN}/giftcards/${path}`, {
      method,
      headers: { cookie, origin: ORIGIN, ...(body === undefined ? {} : JSON_TYPE), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }),
  );
}

describe("the handler", () => {
  it("quotes, applies, lists and removes", async () => {
    const { cart, cookie } = newSession();
    const { cardNumber, pin } = await shop.card(7500);
    const quoted = await call("POST", `carts/${cart.id}/quote`, cookie, { cardNumber, pin });
    expect(quoted.status).toBe(200);
    expect(quoted.headers.get("cache-control")).toBe("no-store");
    const { quoteId } = await quoted.json();
    const applied = await (await call("POST", `carts/${cart.id}/cards`, cookie, { quoteId })).json();
    expect(applied).toMatchObject({ coveredCents: 5000, remainderCents: 2498 });
    const listed = await (await call("GET", `carts/${cart.id}`, cookie)).json();
    expect(listed).toEqual(applied);
    const removed = await call("DELETE", `carts/${cart.id}/cards/${applied.cards[0].id}`, cookie);
    expect(await removed.json()).toMatchObject({ coveredCents: 0, cards: [] });
  });

  it("returns a balance only to a shopper with a cart or a known address", async () => {
    const { cardNumber, pin } = await shop.card(7500);
    const told = {
      lastFour: cardNumber.slice(-4),
      balanceCents: 7500,
      currency: "EUR",
      expiryDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    };
    const { cookie } = newSession();
    expect(await (await call("POST", "balance", cookie, { cardNumber, pin })).json()).toEqual(told);
    const known = { addressOf: () => `192.0.2.${Math.random()}` };
    const ask = (body: unknown) => call("POST", "balance", "", body, {}, known);
    expect(await (await ask({ cardNumber, pin })).json()).toEqual(told);
    const wrong = await ask({ cardNumber, pin: "wrong" });
    expect([wrong.status, (await wrong.json()).code]).toEqual([400, "invalid_card"]);
    const before = shop.proxy.seen.length;
    const nobody = await call("POST", "balance", "", { cardNumber, pin });
    expect(nobody.status).toBe(404);
    expect(await nobody.json()).toEqual({
      code: "cart_not_found",
      message: expect.stringContaining("addressOf"),
    });
    expect(shop.proxy.seen).toHaveLength(before);
    expect((await call("GET", "balance", "")).status).toBe(404);
  });

  it("logs a failure, and returns only its code to the page", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      const broken = { cartOf: () => ({ id: "cart", totalCents: 10.5 as Cents, currency: "EUR" }) };
      const answer = await call("GET", "carts/cart", "", undefined, {}, broken);
      expect([answer.status, (await answer.json()).code]).toEqual([500, "internal"]);
      expect(said.mock.calls.flat().join(" ")).toMatch(/totalCents/);
    } finally {
      said.mockRestore();
    }
  });

  it("logs the command to run if the tables are missing", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    const store = createPostgresStore({ pool, schema: "nothing_here" });
    try {
      const bare = createCheckout({ issuer: shop.client, environment: "sandbox", store, sealingKeys });
      const { cart, cookie } = newSession();
      const handler = createHandler(bare, { cartOf });
      const answer = await handler(new Request(`${ORIGIN}/giftcards/carts/${cart.id}`, { headers: { cookie } }));
      expect(await answer.text()).not.toMatch(/relation|giftcard_|migrate/);
      expect(said.mock.calls.flat().join(" ")).toContain("run store.migrate()");
      await expect(bare.pay({ id: "order", cart })).rejects.toMatchObject({ code: "not_migrated" });
      await expect(bare.recover()).rejects.toMatchObject({ code: "not_migrated" });
    } finally {
      said.mockRestore();
    }
  });

  it("only accesses the shopper's own cart", async () => {
    const [mine, other] = [newSession(), newSession()];
    for (const cookie of [mine.cookie, "", "cart=none"]) {
      const answer = await call("GET", `carts/${other.cart.id}`, cookie);
      expect([answer.status, (await answer.json()).code]).toEqual([404, "cart_not_found"]);
    }
  });

  it("refuses with code, status and Retry-After", async () => {
    const { cart, cookie } = newSession();
    const wrong = { cardNumber: "1234567890123456789", pin: "000000" };
    const first = await call("POST", `carts/${cart.id}/quote`, cookie, wrong);
    expect([first.status, (await first.json()).code]).toEqual([400, "invalid_card"]);
    for (let i = 0; i < 9; i++) await call("POST", `carts/${cart.id}/quote`, cookie, wrong);
    const last = await call("POST", `carts/${cart.id}/quote`, cookie, wrong);
    expect(last.status).toBe(429);
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await last.json()).toMatchObject({ code: "too_many_attempts" });
  });

  it("accepts only a small JSON object as body, and quotes nothing of it", async () => {
    const { cart, cookie } = newSession();
    const { cardNumber, pin } = await shop.card(100);
    const path = `carts/${cart.id}/quote`;
    const bodies = [
      `{"cardNumber":"${cardNumber}"`,
      `["${cardNumber}"]`,
      `"${cardNumber}"`,
      "x".repeat(5000),
      '{"quoteId":"\\u0000"}',
    ];
    for (const body of [...bodies, { cardNumber: Number(cardNumber), pin }]) {
      const answer = await call("POST", path, cookie, body);
      const text = await answer.text();
      expect([answer.status, JSON.parse(text).code]).toEqual([400, "invalid_request"]);
      expect(text).not.toContain(cardNumber.slice(0, 8));
    }
    expect((await call("POST", `carts/${cart.id}/cards`, cookie, '{"quoteId":"\\u0000"}')).status).toBe(400);
    expect((await call("DELETE", `carts/${cart.id}/cards/%00`, cookie)).status).toBe(404);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await call("POST", path, cookie, `cardNumber=${cardNumber}&pin=${pin}`, form)).status).toBe(400);
    expect((await call("POST", path, cookie)).status).toBe(400);
  });

  it("refuses pages of other origins, unless they are listed", async () => {
    const { cart, cookie } = newSession();
    const path = `carts/${cart.id}`;
    const status = async (headers: Record<string, string>) =>
      (await call("GET", path, cookie, undefined, headers)).status;
    expect(await status({ origin: "https://evil.example", "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await status({ origin: "null", "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await status({ origin: ORIGIN, "sec-fetch-site": "cross-site" })).toBe(200);
    expect(await status({ origin: "http://inside:8080", "sec-fetch-site": "same-origin" })).toBe(200);
    // Links and images of other pages send no origin, but their site.
    for (const site of ["cross-site", "same-site"]) {
      const request = new Request(`${ORIGIN}/giftcards/${path}`, {
        headers: { cookie, "sec-fetch-site": site },
      });
      expect((await createHandler(checkout, { cartOf })(request)).status).toBe(403);
    }
    const named = await call("GET", path, cookie, undefined, { origin: "https://www.shop.example" });
    expect(named.headers.get("access-control-allow-origin")).toBe("https://www.shop.example");
    const preflight = await call("OPTIONS", path, "", undefined, {
      origin: "https://www.shop.example",
      "access-control-request-headers": "content-type",
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "content-type"]);
    const foreign = await call("OPTIONS", path, "", undefined, { origin: "https://evil.example" });
    expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("has only its routes", async () => {
    const { cart, cookie } = newSession();
    const unknown: [string, string][] = [
      ["GET", ""],
      ["GET", "carts/"],
      ["POST", `carts/${cart.id}`],
      ["GET", `carts/${cart.id}/cards`],
      ["DELETE", `carts/${cart.id}/cards`],
      ["DELETE", `carts/${cart.id}/cards/a/b`],
      ["GET", "carts/%E0%A4%A"],
    ];
    for (const [method, path] of unknown) expect((await call(method, path, cookie)).status).toBe(404);
  });
});

describe("mounted", () => {
  const options = { cartOf, origins: [NAMED_ORIGIN] };
  /** The README's lines that mount `giftcards` in each framework. */
  const mount = async <App>(name: string, app: App): Promise<App> => {
    const lines = await readBlock("packages/checkout/README.md", name);
    const giftcards = createHandler(checkout, options);
    new Function("app", "giftcards", "toNodeListener", lines)(app, giftcards, toNodeListener);
    return app;
  };
  const servers: Record<string, () => Promise<http.RequestListener>> = {
    "node:http": async () => toNodeListener(createHandler(checkout, { ...options, path: "/shop/giftcards" })),
    express: () => mount("express.js", express()),
    fastify: async () => {
      const app = await mount("fastify.js", Fastify());
      await app.ready();
      return app.routing;
    },
    hono: async () => {
      const app = await mount("hono.js", new Hono());
      return toNodeListener(async (request) => app.fetch(request));
    },
  };
  for (const [name, listen] of Object.entries(servers)) {
    it(`in ${name} it responds as without it`, async () => {
      const server = http.createServer(await listen());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const path = name === "node:http" ? "/shop/giftcards" : "/giftcards";
      try {
        await callMounted(`http://127.0.0.1:${port}${path}`, shop, newSession());
      } finally {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    });
  }
});
