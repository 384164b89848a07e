import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import { Worker } from "node:worker_threads";
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import { startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, eventInput } from "./wire.js";

// Who has no key can send what he likes. `STRANGERS=1500` is the longer form.

const STRANGERS = Number(process.env.STRANGERS ?? 300);
/** Held whole, the bodies alone would be 300 MB. What is measured is printed: 130 to 180 MB, and a third of a second. */
const MAX_GROWTH_MB = 220;
const MAX_HEALTH_MS = 5000;
const MEGABYTE = 1024 * 1024;
const SMALL_PIECES = 250_000;
const LIMIT = 20;

let service: TestService;
const sockets = new Set<net.Socket>();

async function start(...args: string[]): Promise<void> {
  service = await startGiftcardService({ databaseUrl: await testDatabase(), args });
}
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await service.stop();
});

interface Stranger {
  readonly socket: net.Socket;
  received: string;
  /** All that it has to say has left, or the service has ended the connection. */
  isDone: boolean;
}

/** Connects, says all of it, and then waits. */
async function stranger(text: string | Buffer): Promise<Stranger> {
  const { port, hostname } = new URL(service.url);
  const socket = net.connect(Number(port), hostname);
  sockets.add(socket);
  const one: Stranger = { socket, received: "", isDone: false };
  const done = () => (one.isDone = true);
  socket.on("data", (chunk) => (one.received += chunk));
  socket.on("error", () => {}).once("close", done);
  await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
  if (text.length > 0) socket.write(text, done);
  return one;
}

const head = (name: string, header: string) =>
  `POST /api/endpoint/v1/${name} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}\r\n\r\n`;

/** What the service's process holds, in megabytes. */
function residentMb(): number {
  const status = fs.readFileSync(`/proc/${service.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** Asks how the service is, again and again, on a thread of its own: this one is busy being strangers. */
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

/** Watches /healthz; what it gives ends that, and gives the longest that one answer took, in milliseconds. */
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

/** How much the process has grown at most until all have said what they have to say. */
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
  `${STRANGERS} strangers with a megabyte each cost far less, and the room is there for who comes next`,
  async () => {
    await start("--request-timeout", "600");
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
    const all = await Promise.all(Array.from({ length: STRANGERS }, () => stranger(bytes)));
    const grownMb = await growthMb(all, before);
    const worstMs = await worstHealthMs();
    console.log(`${STRANGERS} strangers: ${grownMb.toFixed(0)} MB more, /healthz at most ${worstMs.toFixed(0)} ms`);
    expect(grownMb).toBeLessThan(MAX_GROWTH_MB);
    expect(worstMs).toBeLessThan(MAX_HEALTH_MS);
    // Those who hold the room send no more, so they give way to a call that comes at once.
    const holding = all.filter(({ received, socket }) => received === "" && !socket.destroyed).length;
    expect(holding).toBeGreaterThan(5);
    expect((await call(service.url, "createEvents", wire(company))).status).toBe(200);
    await expect
      .poll(() => all.filter(({ received }) => received.startsWith("HTTP/1.1 503 ")).length)
      .toBeGreaterThan(0);
  },
);

onLinux("a body in pieces of one byte costs what it holds", async () => {
  await start("--request-timeout", "600");
  const before = residentMb();
  const pieces = Buffer.from(head("devalue", "Transfer-Encoding: chunked") + "1\r\n \r\n".repeat(SMALL_PIECES));
  const all = await Promise.all(Array.from({ length: 4 }, () => stranger(pieces)));
  expect(await growthMb(all, before)).toBeLessThan(100);
});

/** Holds every call that reads the providers, until its end. */
async function holdProviders(): Promise<pg.Client> {
  const db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  await db.query("begin; lock table providers in access exclusive mode");
  return db;
}

test(`of more than ${LIMIT} connections those without a call give way, the longest first`, async () => {
  await start("--connections", String(LIMIT));
  const holder = await holdProviders();
  const busy = await stranger("GET /api/endpoint/v1/get_providers HTTP/1.1\r\nHost: x\r\n\r\n");
  const idle: Stranger[] = [];
  for (let count = 0; count < LIMIT * 2; count++) idle.push(await stranger(""));
  const living = () => idle.map(({ socket }) => !socket.destroyed);
  const last = (kept: number) => idle.map((_, index) => index >= idle.length - kept);
  await expect.poll(living).toEqual(last(LIMIT - 1));
  expect(busy.isDone && busy.socket.destroyed).toBe(false);
  // A call needs a connection of its own.
  expect((await fetch(`${service.url}/healthz`, { headers: { Connection: "close" } })).status).toBe(200);
  await expect.poll(living).toEqual(last(LIMIT - 2));
  await holder.end();
  await expect.poll(() => busy.received).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ["calls that never come whole", ""],
  ["calls that never come whole behind others that did", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"],
])("%s keep nobody out", async (_what, first) => {
  await start("--connections", String(LIMIT));
  const slow: Stranger[] = [];
  for (let count = 0; count < LIMIT; count++)
    slow.push(await stranger(`${first}${head("devalue", "Content-Length: 50")}{`));
  await expect.poll(() => slow.every(({ isDone }) => isDone)).toBe(true);
  expect((await fetch(`${service.url}/healthz`, { headers: { Connection: "close" } })).status).toBe(200);
  await expect.poll(() => slow.map(({ socket }) => socket.destroyed)).toEqual(slow.map((_, at) => at === 0));
});
