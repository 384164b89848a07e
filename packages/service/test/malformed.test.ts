import fs from "node:fs";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { TestCard, TestCompany } from "../../../test/support/service.js";
import { type MalformedConnection, malformedConnections } from "./malformed-input.js";
import { serviceForFile } from "./service-for-file.js";
import { call, onCard } from "./wire.js";

/** `npm run prove -- malformed` sets this to a minute. */
const SECONDS = Number(process.env.MALFORMED_SECONDS ?? 4);
const CONNECTIONS = 12;
const MAX_GROWTH_MB = 50;
/** Longer than any answer takes. After this silence, the service is waiting for bytes that are never sent. */
const SILENT_AFTER_MS = 40;

const service = serviceForFile({
  // Locks and limits are off, because they would keep calls from the checks behind them.
  args: ["--calls-per-minute", "0", "--pin-failures", "1000", "--company-pin-failures", "0", "--log-level", "warn"],
});
let company: TestCompany;
let card: TestCard;

beforeAll(async () => {
  company = await service.createCompany();
  await service.createProvider();
  card = await service.issueCard({ balanceCents: 100_000_000 });
});

/** Opens a connection and sends its bytes. Returns the statuses of all answers. */
async function sendMalformed({ bytes, cuts, leaves }: MalformedConnection): Promise<number[]> {
  const { port, hostname } = new URL(service.url);
  const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  let received = "";
  let heardAt = performance.now();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    heardAt = performance.now();
  });
  const places = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b), bytes.length];
  for (let index = 1; index < places.length; index++) {
    socket.write(bytes.subarray(places[index - 1], places[index]));
    if (index < places.length - 1) await sleep(1);
  }
  if (leaves === "half-closes") socket.end();
  if (leaves !== "vanishes") {
    while (!socket.destroyed && performance.now() - heardAt < SILENT_AFTER_MS) {
      await Promise.race([closed, sleep(5)]);
    }
  }
  socket.destroy();
  await closed;
  return [...received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]));
}

/** Returns the resident memory of the service's process, in megabytes. */
function residentMb(): number {
  const status = fs.readFileSync(`/proc/${service.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

const statusCounts = new Map<number, number>();

async function sendMalformedFor(seconds: number): Promise<void> {
  const property = fc.asyncProperty(
    fc.array(malformedConnections(company, card), { minLength: CONNECTIONS, maxLength: CONNECTIONS }),
    async (all) => {
      const statuses = (await Promise.all(all.map(sendMalformed))).flat();
      for (const status of statuses) statusCounts.set(status, (statusCounts.get(status) ?? 0) + 1);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    },
  );
  await fc.assert(property, {
    numRuns: 1_000_000,
    interruptAfterTimeLimit: seconds * 1000,
    endOnFailure: seconds > 30,
  });
}

/** Makes as many valid calls as the service can answer. */
async function callFor(seconds: number): Promise<void> {
  const until = Date.now() + seconds * 1000;
  const caller = async () => {
    while (Date.now() < until) await call(service.url, "balance", onCard(company, card));
  };
  await Promise.all(Array.from({ length: CONNECTIONS * 4 }, caller));
}

test(
  `malformed input for ${SECONDS} seconds causes no 5xx, no crash and no memory leak, and moves no money by mistake`,
  async () => {
    // A new process grows under any load, so it first grows to the size that this load needs.
    await callFor(SECONDS / 3);
    await sendMalformedFor(SECONDS / 3);
    const before = process.platform === "linux" ? residentMb() : 0;
    await sendMalformedFor(SECONDS);
    // The input reached every check: some calls were valid, and others failed at each check.
    expect([...statusCounts.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 415, 422]));
    // Node may free memory late, and keeps some for further load.
    const grownMb = () => (process.platform === "linux" ? residentMb() - before : 0);
    await expect.poll(grownMb, { interval: 500 }).toBeLessThan(MAX_GROWTH_MB);
    expect(service.logs()).not.toContain('"level":"error"');
    expect((await call(service.url, "balance", onCard(company, card))).status).toBe(200);
    expect(await service.command("check")).toMatchObject({ ok: true });
    if (SECONDS > 30)
      console.log(`${grownMb().toFixed(0)} MB more, answers by status:`, Object.fromEntries(statusCounts));
  },
  (SECONDS * 2 + 60) * 1000,
);
