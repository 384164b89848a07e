// @module-tag long

import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import { Worker } from "node:worker_threads";
import { BASE_PATH, endpoints } from "@giftcard-pay/client/contract";
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCompany,
  type TestService,
  type TestServiceOptions,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, eventInput } from "./wire.js";

// Callers without a key, the strangers of these tests, can send anything. `STRANGERS=1500` runs a longer test.

const STRANGERS = Number(process.env.STRANGERS ?? 300);
/**
 * If all bodies were held in memory, they alone would take 300 MB. The test prints what it measures: 130 to 180 MB, and a
 * third of a second.
 */
const MAX_GROWTH_MB = 220;
/** Generous, for a loaded machine. Without the limits it is 45 seconds, or no answer at all. */
const MAX_HEALTH_MS = 15_000;
const MEGABYTE = 1024 * 1024;
const SMALL_PIECES = 250_000;
const LIMIT = 20;

let service: TestService;
const sockets = new Set<net.Socket>();

async function start(options: Pick<TestServiceOptions, "limits" | "timeouts"> = {}): Promise<void> {
  service = await startGiftcardService({ databaseUrl: await testDatabase(), ...options });
}
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await service.stop();
});

interface Stranger {
  readonly socket: net.Socket;
  received: string;
  /** Whether everything is sent, or the service has closed the connection. */
  isDone: boolean;
}

/** Connects and sends a text. The connection stays open. A stranger that is `deaf` reads none of the answers. */
async function connectStranger(text: string | Buffer, { deaf = false } = {}): Promise<Stranger> {
  const { port, hostname } = new URL(service.url);
  const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: deaf });
  sockets.add(socket);
  const one: Stranger = { socket, received: "", isDone: false };
  const done = () => (one.isDone = true);
  if (!deaf) socket.on("data", (chunk) => (one.received += chunk));
  socket.on("error", () => {}).once("close", done);
  await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
  if (text.length > 0) socket.write(text, done);
  return one;
}

const head = (name: string, header: string) =>
  `POST /api/endpoint/v1/${name} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}\r\n\r\n`;

/** Returns the resident memory of the service's process, in megabytes. */
function residentMb(): number {
  const status = fs.readFileSync(`/proc/${service.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** Calls /healthz continuously on a thread of its own, because the main thread is busy with the strangers. */
const WATCHER = `
  const { parentPort, workerData } = require("node:worker_threads");
  let worstMs = 0;
  let isOver = false;
  parentPort.once("message", () => (isOver = true));
  const watch = async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const { status } = await fetch(workerData + "/healthz");
      if (status !== 200) throw new Error("/healthz answered " + status);
      worstMs = Math.max(worstMs, performance.now() - startedAt);
      parentPort.postMessage(worstMs);
    }
    parentPort.close();
  };
  void watch();`;

/** Starts to watch /healthz. Returns a function that stops, and returns the longest time of an answer in milliseconds. */
async function watchHealth(): Promise<() => Promise<number>> {
  const watcher = new Worker(WATCHER, { eval: true, workerData: service.url });
  let worstMs = 0;
  watcher.on("message", (ms: number) => (worstMs = ms));
  await once(watcher, "message");
  return async () => {
    watcher.postMessage("end");
    await once(watcher, "exit");
    return worstMs;
  };
}

/** Waits until all strangers are done. Returns the largest growth of the service's process until then, in megabytes. */
async function growthMb(all: readonly Stranger[], before: number): Promise<number> {
  let most = 0;
  await expect
    .poll(() => {
      most = Math.max(most, residentMb() - before);
      return all.every(({ isDone }) => isDone);
    })
    .toBe(true);
  return Math.max(most, residentMb() - before);
}

const onLinux = test.skipIf(process.platform !== "linux");

onLinux(
  `${STRANGERS} strangers that send a megabyte each use far less memory, and leave room for the next call`,
  async () => {
    await start({ timeouts: { requestMs: 600_000 } });
    const company = await service.createCompany();
    const { id } = await service.createProvider();
    const wire = (company: TestCompany) => ({
      apikey: company.apiKey,
      events: Array.from({ length: 400 }, () => eventInput(id, { event_introductiontext: "x".repeat(1500) })),
    });
    expect((await call(service.url, "createEvents", wire(company))).status).toBe(200);
    const before = residentMb();
    const bytes = Buffer.concat([
      Buffer.from(head("newevent", `Content-Length: ${MEGABYTE}`)),
      Buffer.alloc(MEGABYTE - 1, " "),
    ]);
    const worstHealthMs = await watchHealth();
    const all = await Promise.all(Array.from({ length: STRANGERS }, () => connectStranger(bytes)));
    const grownMb = await growthMb(all, before);
    const worstMs = await worstHealthMs();
    console.log(`${STRANGERS} strangers: ${grownMb.toFixed(0)} MB more, /healthz at most ${worstMs.toFixed(0)} ms`);
    expect(grownMb).toBeLessThan(MAX_GROWTH_MB);
    expect(worstMs).toBeLessThan(MAX_HEALTH_MS);
    // The strangers whose bodies fill the room send no more bytes, so the service drops them for a complete call.
    const holding = all.filter(({ received, socket }) => received === "" && !socket.destroyed).length;
    expect(holding).toBeGreaterThan(5);
    expect((await call(service.url, "createEvents", wire(company))).status).toBe(200);
    await expect
      .poll(() => all.filter(({ received }) => received.startsWith("HTTP/1.1 503 ")).length)
      .toBeGreaterThan(0);
  },
);

onLinux("bodies in chunks of one byte use little memory", async () => {
  await start({ timeouts: { requestMs: 600_000 } });
  const before = residentMb();
  const pieces = Buffer.from(head("devalue", "Transfer-Encoding: chunked") + "1\r\n \r\n".repeat(SMALL_PIECES));
  const all = await Promise.all(Array.from({ length: 4 }, () => connectStranger(pieces)));
  expect(await growthMb(all, before)).toBeLessThan(100);
});

const body = JSON.stringify({ apikey: "x".repeat(40), company_id: 1, cardnumber: "x", pin: "x" });
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const whole = (name: string) => `${head(name, `Content-Length: ${body.length}`)}${body}`;
const chunked = (name: string) =>
  `${head(name, "Transfer-Encoding: chunked")}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const pipelined: Record<string, string> = {
  ...Object.fromEntries(["/openapi.json", "/healthz", "/readyz", "/nowhere"].map((path) => [path, get(path)])),
  ...Object.fromEntries(
    Object.values(endpoints).map(({ path, method }, index) => {
      const operation = path.replace(/\/$/, "");
      const post = index % 2 === 0 ? whole : chunked;
      return [operation, method === "GET" ? get(BASE_PATH + path) : post(operation)];
    }),
  ),
};

for (const [path, text] of Object.entries(pipelined))
  onLinux(
    `60 strangers that pipeline ${path} and never read use little memory, and /healthz answers`,
    {
      // The short run has a check and a call.
      tags: ["/healthz", "devalue"].includes(path) ? [] : ["long"],
    },
    async () => {
      await start();
      const before = residentMb();
      const worstHealthMs = await watchHealth();
      const calls = text.repeat(2000);
      const all = await Promise.all(Array.from({ length: 60 }, () => connectStranger(calls, { deaf: true })));
      // Half of them close their side.
      for (const [index, { socket }] of all.entries()) if (index % 2 === 0) socket.end();
      expect(await growthMb(all, before)).toBeLessThan(150);
      expect(await worstHealthMs()).toBeLessThan(MAX_HEALTH_MS);
    },
  );

test("a connection with more than 64 unanswered calls is closed, and one with 64 is answered", async () => {
  await start();
  const holder = await lockProviders();
  const call = get(`${BASE_PATH}get_providers`);
  const many = await connectStranger(call.repeat(65));
  await expect.poll(() => many.socket.destroyed).toBe(true);
  const few = await connectStranger(call.repeat(64));
  await holder.end();
  await expect.poll(() => few.received.split("HTTP/1.1 200 ").length - 1).toBe(64);
  expect(few.socket.destroyed).toBe(false);
});

/** Locks the providers: calls that read them wait until the returned client disconnects. */
async function lockProviders(): Promise<pg.Client> {
  const db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  await db.query("begin; lock table providers in access exclusive mode");
  return db;
}

test(`above ${LIMIT} connections, those without a call are closed, the longest-waiting first`, async () => {
  await start({ limits: { connections: LIMIT } });
  const holder = await lockProviders();
  const busy = await connectStranger("GET /api/endpoint/v1/get_providers HTTP/1.1\r\nHost: x\r\n\r\n");
  const idle: Stranger[] = [];
  for (let count = 0; count < LIMIT * 2; count++) idle.push(await connectStranger(""));
  const living = () => idle.map(({ socket }) => !socket.destroyed);
  const last = (kept: number) => idle.map((_, index) => index >= idle.length - kept);
  await expect.poll(living).toEqual(last(LIMIT - 1));
  expect(busy.isDone && busy.socket.destroyed).toBe(false);
  // This call opens a connection of its own, so another idle one is closed.
  expect((await fetch(`${service.url}/healthz`, { headers: { Connection: "close" } })).status).toBe(200);
  await expect.poll(living).toEqual(last(LIMIT - 2));
  await holder.end();
  await expect.poll(() => busy.received).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ["incomplete calls", ""],
  ["incomplete calls after complete ones", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"],
])("%s do not keep new callers out", { tags: "long" }, async (_what, first) => {
  await start({ limits: { connections: LIMIT } });
  const slow: Stranger[] = [];
  for (let count = 0; count < LIMIT; count++)
    slow.push(await connectStranger(`${first}${head("devalue", "Content-Length: 50")}{`));
  await expect.poll(() => slow.every(({ isDone }) => isDone)).toBe(true);
  expect((await fetch(`${service.url}/healthz`, { headers: { Connection: "close" } })).status).toBe(200);
  await expect.poll(() => slow.map(({ socket }) => socket.destroyed)).toEqual(slow.map((_, at) => at === 0));
});
