// @module-tag long

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { BASE_PATH, endpoints, errorDefinitions } from "@giftcard-pay/client/contract";
import { Validator } from "@seriousme/openapi-schema-validator";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawnServe, startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, credentials, onCard } from "./wire.js";

let service: TestService;
let company: TestCompany;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-operator-"));
const secretsFile = path.join(folder, "secrets.json");

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  service = await startGiftcardService({ databaseUrl, secretsFile, environment: "sandbox" });
  company = await service.createCompany();
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const metric = async (line: string) => {
  const text = await service.metrics();
  return Number(
    text
      .split("\n")
      .find((one) => one.startsWith(`${line} `))
      ?.slice(line.length),
  );
};
// biome-ignore lint/suspicious/noExplicitAny: tests inspect answers of any shape
const jsonOf = async (answer: Response): Promise<any> => answer.json();
const readDocument = async () => jsonOf(await fetch(`${service.url}/openapi.json`));
async function connect(): Promise<pg.Client> {
  const db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  return db;
}

test("health and readiness name the environment and the version", async () => {
  const health = await fetch(`${service.url}/healthz`);
  expect([health.status, await health.json()]).toEqual([
    200,
    { status: "ok", environment: "sandbox", version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
  ]);
  const ready = await fetch(`${service.url}/readyz`);
  expect([ready.status, (await jsonOf(ready)).status]).toEqual([200, "ready"]);
});

test("the service is healthy but not ready while a migration is missing", async () => {
  const db = await connect();
  await db.query("create table kept as select * from migrations");
  await db.query("delete from migrations where version = (select max(version) from migrations)");
  const ready = await fetch(`${service.url}/readyz`);
  expect([ready.status, (await jsonOf(ready)).status]).toEqual([503, "database not migrated"]);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  await db.query("insert into migrations select * from kept on conflict do nothing");
  await db.query("drop table kept");
  await db.end();
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
});

test("readiness and metrics answer while calls hold every connection and wait for a lock", async () => {
  const card = await service.issueCard({ balanceCents: 7500 });
  const db = await connect();
  await db.query("begin");
  await db.query("select from cards for update");
  const waiting = Array.from({ length: 40 }, () =>
    call(service.url, "devalue", { ...onCard(company, card), amount: 1 }),
  );
  await expect.poll(() => metric("giftcard_database_lock_waits")).toBeGreaterThan(0);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  expect(await metric("giftcard_calls_in_flight")).toBeGreaterThanOrEqual(40);
  expect(await metric('giftcard_database_connections{state="busy"}')).toBeGreaterThan(0);
  await db.query("commit");
  await db.end();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 200));
  await expect.poll(() => metric("giftcard_calls_in_flight")).toBe(0);
});

test("metrics count calls by operation and outcome, and the money that moved, and contain no data of a card", async () => {
  const card = await service.issueCard({ balanceCents: 7500 });
  const names = [
    'giftcard_calls_total{operation="devalue",outcome="done"}',
    'giftcard_calls_total{operation="devalue",outcome="replayed"}',
    'giftcard_calls_total{operation="devalue",outcome="invalid_card"}',
    'giftcard_money_cents_total{operation="devalue"}',
    'giftcard_money_cents_total{operation="canceldevalue"}',
    'giftcard_call_duration_seconds_count{operation="canceldevalue"}',
  ];
  const read = async () => Promise.all(names.map(async (name) => (await metric(name)) || 0));
  const before = await read();
  const wire = { ...onCard(company, card), amount: 1250 };
  const headers = { "Idempotency-Key": "counted" };
  const { body } = await call(service.url, "devalue", wire, { headers });
  await call(service.url, "devalue", wire, { headers });
  await call(service.url, "devalue", { ...wire, pin: "wrong" });
  await call(service.url, "cancelDevalue", { ...credentials(company), cancel_token: body.cancel_token });
  const after = await read();
  expect(after.map((value, index) => value - (before[index] as number))).toEqual([1, 1, 1, 1250, 1250, 1]);
  const text = await service.metrics();
  for (const secret of [card.cardNumber, company.apiKey, body.cancel_token]) expect(text).not.toContain(secret);
  // Four digits may occur within other numbers by chance, so only a label with exactly these digits fails the test.
  expect(text).not.toMatch(new RegExp(`["=]${card.cardNumber.slice(-4)}"`));
});

test.each([
  ["127.0.0.1", []],
  ["127.0.0.2", ["--metrics-host", "127.0.0.2"]],
])("metrics are served on their own port at %s alone, without the API's operations", async (host, more) => {
  const args = ["--host", "127.0.0.3", "--metrics-port", "0", ...more];
  const other = await startGiftcardService({ databaseUrl: await testDatabase(), args });
  const metricsUrl = new URL(String(/"metrics_url":"([^"]+)"/.exec(other.logs())?.[1]));
  expect(metricsUrl.hostname).toBe(host);
  expect((await fetch(new URL("/metrics", metricsUrl))).status).toBe(200);
  expect((await fetch(new URL(`${BASE_PATH}get_providers`, metricsUrl))).status).toBe(404);
  expect((await fetch(`${other.url}/metrics`)).status).toBe(404);
  metricsUrl.hostname = "127.0.0.3";
  await expect(fetch(new URL("/metrics", metricsUrl))).rejects.toThrow();
  await other.stop();
});

test("without a port of their own, metrics are not served", async () => {
  const env = { GIFTCARD_DATABASE_URL: service.databaseUrl, GIFTCARD_SECRETS_FILE: secretsFile };
  const other = await spawnServe(["--environment", "sandbox"], env);
  expect((await fetch(`${other.url}/metrics`)).status).toBe(404);
  expect(other.logs()).not.toContain("metrics_url");
  await other.stop();
});

test("the OpenAPI document is valid, and describes every operation with its errors", async () => {
  const document = await readDocument();
  expect(await new Validator().validate(document)).toMatchObject({ valid: true });
  expect(document.openapi).toMatch(/^3\.1\./);
  const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const rows = Object.values(endpoints);
  expect(listed.sort()).toEqual(rows.map((row) => `${row.method} ${BASE_PATH}${row.path}`).sort());
  for (const row of rows) {
    const { responses, requestBody } = document.paths[BASE_PATH + row.path][row.method.toLowerCase()];
    const examples = Object.values(responses).flatMap((response) =>
      // biome-ignore lint/suspicious/noExplicitAny: the document's own shape
      Object.keys((response as any).content["application/json"].examples ?? {}),
    );
    expect([row.path, examples.sort()]).toEqual([row.path, [...row.errors].sort()]);
    for (const code of row.errors) expect(responses).toHaveProperty(String(errorDefinitions[code].status));
    expect(requestBody === undefined).toBe(row.encoding === null);
  }
});

test("a line is logged for each call, with the request id of its answer, and with no other fields than these", async () => {
  const answer = await call(service.url, "balance", { ...credentials(company), cardnumber: "1", pin: "2" });
  const id = answer.headers.get("x-request-id") as string;
  await expect.poll(() => service.logs()).toContain(id);
  const line = service
    .logs()
    .split("\n")
    .find((one) => one.includes(id)) as string;
  expect(JSON.parse(line)).toEqual({
    level: "info",
    time: expect.any(String),
    environment: "sandbox",
    pid: service.pid,
    requestId: id,
    operation: "balance",
    status: 400,
    outcome: "invalid_card",
    companyId: company.companyId,
    keyId: expect.any(Number),
    durationMs: expect.any(Number),
    message: "call",
  });
});

test("a call's log line has the caller's trace id if its traceparent header is valid", async () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const ask = async (traceparent: string) => {
    const { headers } = await call(service.url, "listProviders", {}, { headers: { traceparent } });
    return headers.get("x-request-id") as string;
  };
  const lineOf = async (id: string) => {
    await expect.poll(() => service.logs()).toContain(id);
    const line = service
      .logs()
      .split("\n")
      .find((one) => one.includes(id));
    return JSON.parse(line as string);
  };
  expect(await lineOf(await ask(`00-${traceId}-00f067aa0ba902b7-01`))).toMatchObject({ traceId });
  for (const wrong of [`00-${traceId}`, `00-${"0".repeat(32)}-00f067aa0ba902b7-01`, "a card number"])
    expect(await lineOf(await ask(wrong))).not.toHaveProperty("traceId");
});

test("at the log level warn, calls are not logged", async () => {
  const databaseUrl = await testDatabase();
  const quiet = await startGiftcardService({ databaseUrl, args: ["--log-level", "warn"] });
  await call(quiet.url, "listProviders");
  await quiet.stop();
  expect(quiet.logs()).not.toContain("listProviders");
});
