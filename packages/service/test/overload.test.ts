// @module-tag long

import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { endpoints, errorDefinition } from "@giftcard-pay/client/contract";
import { describe, expect, test } from "vitest";
import { defaultTimeouts } from "../src/limits/limits.js";
import { databaseForFile, serviceForFile } from "./service-for-file.js";
import { basic, call, type WireAnswer } from "./wire.js";

const AT_ONCE = 60;
const service = serviceForFile({
  limits: { callsAtOnce: AT_ONCE },
  timeouts: { headersMs: 1000, requestMs: 2000, idleMs: 1000 },
});
const db = databaseForFile(service);

const path = "/api/endpoint/v1/devalue";
const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

interface Exchange {
  readonly received: string;
  readonly sentBytes: number;
  readonly durationMs: number;
}

/** Opens a connection and lets `send` write to it. Returns everything received until the service closes the connection. */
function exchange(send: (socket: net.Socket) => void): Promise<Exchange> {
  const { port, hostname } = new URL(service.url);
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname, () => send(socket));
    let received = "";
    socket.on("data", (chunk) => (received += chunk));
    socket.on("error", () => {});
    socket.once("close", () =>
      resolve({
        received,
        sentBytes: socket.bytesWritten - socket.writableLength,
        durationMs: performance.now() - startedAt,
      }),
    );
  });
}

describe("bodies above the limit", () => {
  const LIMIT = endpoints.devalue.bodyLimitBytes;
  const FAR_MORE_BYTES = 512 * 1024 * 1024;
  /** The size of the buffers at both ends of a connection. */
  const IN_FLIGHT_BYTES = 12 * 1024 * 1024;

  /** Sends endlessly, as fast as the service accepts the bytes. */
  const flood = (socket: net.Socket, piece: Buffer) => {
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on("drain", more);
    more();
  };

  test.each([
    ["announced", `Content-Length: ${FAR_MORE_BYTES}`, Buffer.alloc(64 * 1024, "x")],
    ["not announced", "Transfer-Encoding: chunked", Buffer.from(`10000\r\n${"x".repeat(0x10000)}\r\n`)],
  ])("are answered with 413 immediately, and not read further (%s)", async (_how, header, piece) => {
    const { received, sentBytes } = await exchange((socket) => {
      socket.write(`${head}${header}\r\n\r\n`);
      flood(socket, piece);
    });
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received).toContain(errorDefinition("body_too_large").message);
    expect(received).toMatch(/^connection: close/im);
    expect(sentBytes).toBeLessThan(IN_FLIGHT_BYTES);
  });

  test("are answered before their first byte if their length is announced", async () => {
    const { received } = await exchange((socket) => socket.write(`${head}Content-Length: ${LIMIT + 1}\r\n\r\n`));
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("are answered even if the caller sends everything before it reads", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call(service.url, "devalue", {}, { raw: "x".repeat(LIMIT * 4) })),
    );
    for (const answer of answers) expect(answer.status).toBe(413);
  });
});

describe("a connection is closed", { tags: "long" }, () => {
  const dribble = (start: string, text: string) => (socket: net.Socket) => {
    socket.write(start);
    const timer = setInterval(() => socket.write(text), 100);
    socket.once("close", () => clearInterval(timer));
  };

  const { headersMs, requestMs, idleMs } = defaultTimeouts;

  // The connections are closed before the default timeouts, so the options are in effect.
  test.each<[string, number, (socket: net.Socket) => void]>([
    ["if its headers trickle in", headersMs, dribble(head, "X-A: b\r\n")],
    ["if a body trickles in", requestMs, dribble(`${head}Content-Length: 5000\r\n\r\n`, " ")],
    ["if a chunked body never ends", requestMs, dribble(`${head}Transfer-Encoding: chunked\r\n\r\n`, "1\r\n \r\n")],
    ["if nothing is sent", headersMs, () => {}],
  ])("%s", async (_what, defaultMs, send) => {
    const { received, durationMs } = await exchange(send);
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(durationMs).toBeLessThan(defaultMs);
    expect(JSON.parse(received.split("\r\n\r\n")[1] ?? "")).toEqual({ error: expect.any(String) });
  });

  test("if it is idle after a call", async () => {
    const { received, durationMs } = await exchange((socket) =>
      socket.write("GET /api/endpoint/v1/get_providers HTTP/1.1\r\nHost: x\r\n\r\n"),
    );
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(durationMs).toBeGreaterThan(900);
    expect(durationMs).toBeLessThan(idleMs);
  });
});

describe("at overload", () => {
  /** Makes every call of get_providers wait until `work` is done. */
  async function whileProvidersAreLocked(work: () => Promise<void>): Promise<void> {
    await db.query("begin");
    await db.query("lock table providers in access exclusive mode");
    try {
      await work();
    } finally {
      await db.query("commit");
    }
  }

  test("excess calls are refused immediately with 503 and Retry-After, and health checks are still answered", async () => {
    const waiting: Promise<WireAnswer>[] = [];
    let ended = 0;
    await whileProvidersAreLocked(async () => {
      for (let index = 0; index < AT_ONCE; index++)
        waiting.push(call(service.url, "listProviders").finally(() => (ended += 1)));
      await sleep(500);
      const refused = await Promise.all(Array.from({ length: 50 }, () => call(service.url, "listProviders")));
      for (const answer of refused) {
        expect([answer.status, answer.body]).toEqual([503, { error: errorDefinition("overloaded").message }]);
        expect(answer.headers.get("retry-after")).toBe("1");
      }
      for (const probe of ["/healthz", "/readyz"]) {
        expect([probe, (await fetch(service.url + probe)).status]).toEqual([probe, 200]);
      }
      // The calls were refused before any accepted call ended.
      expect(ended).toBe(0);
      // Accepted calls that get no database connection in time are refused too, so that none waits forever.
      await sleep(5500);
    });
    const answers = await Promise.all(waiting);
    const statuses = Map.groupBy(answers, (answer) => answer.status);
    expect([...statuses.keys()].sort()).toEqual([200, 503]);
    expect(statuses.get(200)?.length).toBeGreaterThanOrEqual(8);
    for (const answer of statuses.get(503) ?? []) expect(answer.headers.get("retry-after")).toBe("1");
    expect((await call(service.url, "listProviders")).status).toBe(200);
  });

  test("concurrent logins are checked only up to the limit of failures, and the service stays ready", {
    tags: "long",
  }, async () => {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        call(service.url, "authenticate", {}, { headers: basic(`nobody-${index}@example.nl`, "x") }),
      ),
    );
    // Ten logins from one address are checked. The others are refused immediately.
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(AT_ONCE - 10);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });
});
