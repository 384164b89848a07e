import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { isRunning } from "../src/postgres/processes.js";
import { call, onCard } from "./wire.js";

let service: TestService;
let company: TestCompany;
let secretsFile: string;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-workers-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));

beforeEach(async () => {
  const args = ["--workers", "2", "--calls-per-minute", "0"];
  secretsFile = path.join(folder, `${randomUUID()}.json`);
  service = await startGiftcardService({ databaseUrl: await testDatabase(), secretsFile, args });
  company = await service.createCompany();
});
afterEach(() => service.stop());

/** Opens a connection for each call, so that both workers get calls. */
const newConnection = { headers: { Connection: "close" } };
const lines = () =>
  service
    .logs()
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
const pidsOfCalls = () => new Set(lines().flatMap(({ message, pid }) => (message === "call" ? [pid] : [])));

test("all workers serve one port, and the metrics add them up", async () => {
  const card = await service.issueCard({ balanceCents: 7500 });
  const wire = { ...onCard(company, card), amount: 10 };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call(service.url, "devalue", wire, newConnection)),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  await expect.poll(() => pidsOfCalls().size).toBe(2);
  expect(pidsOfCalls()).not.toContain(service.pid);
  const metrics = await service.metrics();
  expect(metrics).toContain('giftcard_calls_total{operation="devalue",outcome="done"} 20');
  expect(metrics).toContain('giftcard_processes{environment="live"} 2');
});

test("a worker that dies is replaced, and the port keeps answering", { tags: "long" }, async () => {
  await Promise.all(Array.from({ length: 10 }, () => call(service.url, "listProviders", {}, newConnection)));
  await expect.poll(() => pidsOfCalls().size).toBe(2);
  const [victim] = [...pidsOfCalls()];
  process.kill(victim, "SIGKILL");
  await expect.poll(() => service.logs()).toContain('"message":"worker replaced"');
  expect((await call(service.url, "listProviders", {}, newConnection)).status).toBe(200);
  const several = async () => {
    await Promise.all(Array.from({ length: 6 }, () => call(service.url, "listProviders", {}, newConnection)));
    return pidsOfCalls().size;
  };
  await expect.poll(several).toBe(3);
});

test("on SIGTERM, all workers answer their calls in progress, and no process is left", { tags: "long" }, async () => {
  const card = await service.issueCard({ balanceCents: 7500 });
  const wire = { ...onCard(company, card), amount: 10 };
  const answers = Array.from({ length: 20 }, () => call(service.url, "devalue", wire, newConnection));
  await Promise.race(answers);
  expect(await service.stop()).toBe(0);
  const ended = await Promise.allSettled(answers);
  // Late calls found the port closed. No call was dropped after it began: each amount that was taken was answered.
  const answered = ended.flatMap((one) => (one.status === "fulfilled" ? [one.value.body.amount_deducted] : []));
  expect(answered.length).toBeGreaterThan(0);
  expect(new Set(answered)).toEqual(new Set([10]));
  const db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  const { rows } = await db.query("select balance_cents::int as cents from cards");
  await db.end();
  expect(rows[0].cents).toBe(7500 - 10 * answered.length);
  await sleep(100);
  for (const pid of pidsOfCalls()) expect(isRunning(pid)).toBe(false);
});

test("workers exit if their port is taken, as a single process does", { tags: "long" }, async () => {
  const { port } = new URL(service.url);
  const args = ["--workers", "2", "--port", port];
  await expect(startGiftcardService({ databaseUrl: service.databaseUrl, secretsFile, args })).rejects.toThrow(
    /ended \(1\).*Cannot listen/s,
  );
});
