import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startNode } from "../../../scripts/lib/process.mjs";
import { runCommand, startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { type PullOutcome, pauseOf, pullRegularly } from "../dist/feed/pull-regularly.js";
import { operatorShell } from "./operator-shell.js";
import { type FakeShop, show, startFakeShop } from "./played-shop.js";
import { call } from "./wire.js";

const PROGRAM = path.resolve(import.meta.dirname, "../bin/giftcard-service.js");
const MINUTE = 60_000;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-regularly-"));
let service: TestService;
let shop: FakeShop;
let company: TestCompany;
let shell: ReturnType<typeof operatorShell>;

beforeAll(async () => {
  const secretsFile = path.join(folder, "secrets.json");
  service = await startGiftcardService({ databaseUrl: await testDatabase(), secretsFile });
  company = await service.createCompany();
  shop = await startFakeShop();
  shell = operatorShell(service.databaseUrl, secretsFile);
  Object.assign(shell.env, shop.env);
  shop.trust();
});
afterAll(async () => {
  await service.stop();
  await shop.close();
  fs.rmSync(folder, { recursive: true });
});

const startPulling = (...words: string[]) =>
  startNode({
    name: "events pull",
    args: [PROGRAM, "events", "pull", "--every", "1", ...words],
    cwd: folder,
    env: shell.env,
    ready: /\n/,
  });

test("--every pulls immediately, prints a line for each pull, and exits with 0 on SIGTERM", async () => {
  await shop.serveFeed([show("a")]);
  const address = ["--company", String(company.companyId), "--url", shop.url, "--allow-private"];
  const pulling = await startPulling("--json", ...address);
  expect(JSON.parse(pulling.logs())).toMatchObject({ company_id: company.companyId, created: ["a"] });
  expect(await pulling.stop()).toBe(0);
});

test("--every stops gracefully while a shop does not answer, and changes nothing", async () => {
  await shop.serveFeed([show("a")]);
  await shell.succeed("events", "pull");
  shop.answer = (_request, response) => void response.writeHead(500).end();
  const pulling = await startPulling();
  expect(pulling.logs()).toMatch(/^warning: company \d+: Nothing was changed: the feed got the answer 500/);
  await pulling.stop();

  shop.requests.splice(0);
  shop.answer = () => {};
  const failed = await shell.succeed("events", "feed", "list");
  const waiting = spawn(process.execPath, [PROGRAM, "events", "pull", "--every", "1"], {
    env: { ...process.env, ...shell.env },
    stdio: "ignore",
  });
  await expect.poll(() => shop.requests.length).toBe(1);
  waiting.kill("SIGTERM");
  expect(await once(waiting, "exit")).toEqual([0, null]);
  expect(await shell.succeed("events", "feed", "list")).toEqual(failed);
  const { body } = await call(service.url, "listEvents", { apikey: company.apiKey });
  expect(body).toHaveLength(1);
});

test("--every exits with 3 if the given company does not exist or has no feed", async () => {
  const other = await service.createCompany();
  for (const id of [999, other.companyId]) {
    const { exitCode, stderr } = await shell.run(["events", "pull", "--every", "1", "--company", String(id)]);
    expect([exitCode, stderr]).toEqual([3, expect.stringMatching(/no company with this id|has no feed yet/)]);
  }
});

test("--every exits with 4 if no service uses the data directory, which it would otherwise block for the service", async () => {
  const dataDir = path.join(folder, "giftcard-data");
  expect((await runCommand(["migrate", "--data-dir", dataDir])).exitCode).toBe(0);
  const { exitCode, stderr } = await runCommand(["events", "pull", "--every", "1", "--data-dir", dataDir]);
  expect([exitCode, stderr]).toEqual([4, expect.stringMatching(/Start `serve` first/)]);
});

test("the metrics show the last successful pull of each feed, until it is removed", async () => {
  const shown = async () =>
    /^giftcard_event_feed_pulled_timestamp_seconds\{company="(\d+)"\} (\S+)$/m.exec(await service.metrics());
  await shop.serveFeed([show("a")]);
  await shell.succeed("events", "pull");
  const [, id, seconds] = (await shown()) ?? [];
  const [feed] = await shell.succeed("events", "feed", "list");
  expect([Number(id), Number(seconds)]).toEqual([company.companyId, Date.parse(feed.pulled_at) / 1000]);
  shop.answer = (_request, response) => void response.writeHead(500).end();
  expect((await shell.run(["events", "pull"])).exitCode).toBe(1);
  expect((await shown())?.[2]).toBe(seconds);
  await shop.serveFeed([show("a")]);
  await shell.succeed("events", "pull");
  expect(Number((await shown())?.[2])).toBeGreaterThan(Number(seconds));
  await shell.succeed("events", "feed", "remove", "--company", String(company.companyId), "--reason", "left");
  expect(await shown()).toBeNull();
});

test("each feed is pulled periodically, also feeds that are added later", async () => {
  const ending = new AbortController();
  const companies = [1];
  const pulled: number[] = [];
  await pullRegularly({
    everyMs: 1,
    companies: async () => companies,
    signal: ending.signal,
    pull: async (id) => {
      pulled.push(id);
      if (pulled.length === 3) companies.push(2);
      if (pulled.includes(2) && pulled.at(-1) === 1) ending.abort();
      return "done";
    },
  });
  expect(pulled.slice(0, 3)).toEqual([1, 1, 1]);
  expect(pulled).toContain(2);
});

test("a failing feed waits longer each time, at least as long as its server asks, and delays no others", async () => {
  const failed: PullOutcome = { retryAfterSeconds: undefined };
  const pauses = [1, 2, 3, 20].map((failures) => pauseOf(15 * MINUTE, failures, failed) / MINUTE);
  expect(pauses).toEqual([30, 60, 120, 360]);
  expect(pauseOf(15 * MINUTE, 0, "done")).toBe(15 * MINUTE);
  expect(pauseOf(15 * MINUTE, 1, { retryAfterSeconds: 7200 })).toBe(120 * MINUTE);
  expect(pauseOf(15 * MINUTE, 1, { retryAfterSeconds: 5 })).toBe(30 * MINUTE);
  expect(pauseOf(1440 * MINUTE, 9, failed)).toBe(1440 * MINUTE);

  const ending = new AbortController();
  const pulled = { bad: 0, good: 0 };
  await pullRegularly({
    everyMs: 1,
    companies: async () => [1, 2],
    signal: ending.signal,
    pull: async (id) => {
      pulled[id === 1 ? "bad" : "good"] += 1;
      if (pulled.good === 20) ending.abort();
      return id === 1 ? { retryAfterSeconds: 3600 } : "done";
    },
  });
  expect(pulled).toEqual({ bad: 1, good: 20 });
});
