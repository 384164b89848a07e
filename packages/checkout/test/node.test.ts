import http from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { cents } from "@giftcard-pay/client";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { publicAddress } from "../src/engine/addresses.js";
import { type NodeListenerOptions, toNodeListener } from "../src/http/node.js";
import { attachedAddress } from "../src/http/shopper-address.js";
import { createHandler } from "../src/index.js";

const servers: http.Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Starts a server with this listener, and keeps its reported failures. */
async function serve(listener: http.RequestListener): Promise<string> {
  const server = http.createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const mount = (handler: (request: Request) => Promise<Response>, options?: NodeListenerOptions) =>
  serve(toNodeListener(handler, options));

describe("in node:http a handler", () => {
  it("sends a separate header for each cookie", async () => {
    const url = await mount(async () => {
      const headers = new Headers({ "x-one": "1" });
      headers.append("set-cookie", "cart=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly");
      headers.append("set-cookie", "seen=yes");
      return new Response("both", { status: 201, headers });
    });
    const response = await fetch(url);
    expect([response.status, await response.text(), response.headers.get("x-one")]).toEqual([201, "both", "1"]);
    expect(response.headers.getSetCookie()).toEqual([
      "cart=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly",
      "seen=yes",
    ]);
  });

  it("that throws returns a 500 of the shop's shape, and reports the error", async () => {
    const failures: unknown[] = [];
    const url = await mount(
      async () => {
        throw new Error("the session store is down");
      },
      { onFailure: (error) => failures.push(error) },
    );
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ code: "internal", message: expect.any(String) });
    expect(failures).toEqual([expect.objectContaining({ message: "the session store is down" })]);
  });

  it("streams bodies both ways", async () => {
    let rest = (_: string) => {};
    const url = await mount(async (request) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const encoder = new TextEncoder();
      void writer.write(encoder.encode(`${await request.text()} `));
      rest = (text) => void writer.write(encoder.encode(text)).then(() => writer.close());
      return new Response(readable);
    });
    const response = await fetch(url, { method: "POST", body: "first" });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("first ");
    rest("then");
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("then");
    expect((await reader.read()).done).toBe(true);
  });

  it("that fails during its body closes the connection and reports it; a closed connection is no failure", async () => {
    const failures: unknown[] = [];
    let canceled = false;
    const url = await mount(
      async (request) =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new Uint8Array(10));
              if (request.url.endsWith("/broken")) throw new Error("half of it");
              await sleep(5);
            },
            cancel() {
              canceled = true;
            },
          }),
        ),
      { onFailure: (error) => failures.push(error) },
    );
    await expect(fetch(`${url}/broken`).then((response) => response.text())).rejects.toThrow();
    await expect.poll(() => failures).toEqual([expect.objectContaining({ message: "half of it" })]);
    const leaving = new AbortController();
    await fetch(url, { signal: leaving.signal });
    leaving.abort();
    await expect.poll(() => canceled).toBe(true);
    expect(failures).toHaveLength(1);
  });

  it("responds even if the function for failures fails", async () => {
    const unheard: unknown[] = [];
    const listen = (failure: unknown) => unheard.push(failure);
    process.on("unhandledRejection", listen);
    const broken = async () => {
      throw new Error("the session store is down");
    };
    const routes = (onFailure: () => void) => createHandler({} as never, { cartOf: broken, onFailure });
    try {
      for (const onFailure of [
        () => {
          throw new Error("the log is full");
        },
        async () => {
          throw new Error("the log can't be reached");
        },
      ]) {
        expect((await fetch(await mount(broken, { onFailure }))).status).toBe(500);
        const asked = new Request("https://shop.example/giftcards/carts/1");
        expect((await routes(onFailure)(asked)).status).toBe(500);
      }
      await sleep(20);
      expect(unheard).toEqual([]);
    } finally {
      process.off("unhandledRejection", listen);
    }
  });

  it("reports no failure if the connection is closed during the request or before the response", async () => {
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    const cart = { id: "1", totalCents: cents(500), currency: "EUR" };
    const routes = createHandler({} as never, { cartOf: () => cart, onFailure });
    let done = 0;
    const url = await mount(
      async (request) => {
        if (request.url.endsWith("/slow")) await sleep(60);
        const answer = request.url.endsWith("/text")
          ? request.text().then((text) => new Response(text))
          : routes(request);
        return answer.finally(() => {
          done += 1;
        });
      },
      { onFailure },
    );
    for (const path of ["giftcards/carts/1/quote", "text", "slow"]) {
      const headers = { "content-type": "application/json", "content-length": 100 };
      const request = http.request(`${url}/${path}`, { method: "POST", headers }).on("error", () => {});
      request.write('{"cardNumber":');
      await sleep(30);
      request.destroy();
    }
    await expect.poll(() => done).toBe(3);
    await sleep(20);
    expect(failures).toEqual([]);
  });

  it("has the shop's own origin, whatever the request's target", async () => {
    const routes = createHandler({ list: async () => ({}) } as never, {
      cartOf: () => ({ id: "1", totalCents: cents(500), currency: "EUR" }),
    });
    for (const options of [{}, { origin: "https://shop.example" }]) {
      const { port } = new URL(await mount(routes, options));
      const call = (path: string, origin: string) =>
        new Promise((resolve, reject) => {
          const headers = { origin, host: "shop.example" };
          http.get({ port, path, headers }, (response) => resolve(response.resume().statusCode)).on("error", reject);
        });
      const own = options.origin ?? "http://shop.example";
      expect(await call("/giftcards/carts/1", own)).toBe(200);
      expect(await call("http://evil.example/giftcards/carts/1", own)).toBe(200);
      for (const path of ["//evil.example/giftcards/carts/1", "http://evil.example/giftcards/carts/1"])
        expect(await call(path, "http://evil.example")).toBe(403);
    }
  });

  it("doesn't get requests that the Web's Request refuses", async () => {
    const url = await mount(async () => new Response("never"));
    const status = await new Promise((resolve, reject) => {
      const request = http.request(url, { method: "TRACE" }, (response) => resolve(response.statusCode));
      request.on("error", reject).end();
    });
    expect(status).toBe(400);
  });

  describe("behind express.json()", () => {
    const echo = async (request: Request) => Response.json({ got: await request.json() });
    const failures: unknown[] = [];
    const listen = (parser: express.RequestHandler) =>
      serve(
        express()
          .use(parser)
          .use(toNodeListener(echo, { onFailure: (error) => failures.push(error) })) as http.RequestListener,
      );
    const body = JSON.stringify({ cardNumber: "001", pin: "000" });

    it("uses the parsed body", async () => {
      const url = await listen(express.json());
      const headers = { "content-type": "application/json" };
      const response = await fetch(url, { method: "POST", body, headers });
      expect(await response.json()).toEqual({ got: JSON.parse(body) });
    });

    it("explains what to do if the body is lost", async () => {
      const url = await listen((req, _, next) => void req.resume().on("end", next));
      const response = await fetch(url, { method: "POST", body });
      expect([response.status, (await response.json()).code]).toEqual([500, "internal"]);
      expect(String(failures.pop())).toContain("Mount it before");
    });
  });
});

describe("the shopper's address", () => {
  const told = async (options: NodeListenerOptions, headers: Record<string, string> = {}, address = "127.0.0.1") => {
    const counted = async (request: Request) => Response.json(publicAddress(attachedAddress(request)) ?? null);
    const listener = toNodeListener(counted, options);
    const url = await serve((req, res) => {
      Object.defineProperty(req.socket, "remoteAddress", { value: address, configurable: true });
      void listener(req, res);
    });
    return (await fetch(url, { headers })).json();
  };

  it("is that of the connection, unless it is a proxy's", async () => {
    for (const address of ["203.0.113.7", "2001:db8::1"]) expect(await told({}, {}, address)).toBe(address);
    expect(await told({}, {}, "::ffff:203.0.113.7")).toBe("203.0.113.7");
    for (const address of ["127.0.0.1", "::1", "10.1.2.3", "::ffff:172.18.0.1", "fd00::1"])
      expect(await told({}, { "x-forwarded-for": "203.0.113.7" }, address)).toBeNull();
  });

  it("is the last entry of the header; entries of shoppers are ignored", async () => {
    const options = { addressHeader: "X-Forwarded-For" };
    expect(await told(options, { "x-forwarded-for": "198.51.100.1, 203.0.113.7" })).toBe("203.0.113.7");
    expect(await told(options, {}, "203.0.113.9")).toBeNull();
    expect(await told({}, { "x-forwarded-for": "198.51.100.1" }, "203.0.113.9")).toBe("203.0.113.9");
  });

  it("counts guesses of the gift card routes", async () => {
    const seen: unknown[] = [];
    const routes = createHandler({ balance: async (_: unknown, from: unknown) => seen.push(from) } as never, {
      cartOf: () => null,
    });
    const url = await mount(routes, { addressHeader: "x-real-ip" });
    const headers = { "x-real-ip": "203.0.113.7", "content-type": "application/json" };
    await fetch(`${url}/giftcards/balance`, { method: "POST", headers, body: "{}" });
    expect(seen).toEqual([{ address: "203.0.113.7" }]);
  });
});
