// @module-tag long

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type DatabaseProxy, startDatabaseProxy } from "../../../test/support/database-proxy.js";
import {
  runCommand,
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { basic, call, onCard } from "./wire.js";

let service: TestService;
let company: TestCompany;
let card: TestCard;
let proxy: DatabaseProxy;
let db: pg.Client;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-readiness-"));
const secretsFile = path.join(folder, "secrets.json");

beforeAll(async () => {
  const databaseUrl = await testDatabase();
  proxy = await startDatabaseProxy(databaseUrl);
  service = await startGiftcardService({ databaseUrl: proxy.url, secretsFile });
  company = await service.createCompany();
  card = await service.issueCard({ balanceCents: 5000 });
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});
afterEach(async () => {
  await expect.poll(ready).toMatchObject({ code: 200, status: "ready" });
});
afterAll(async () => {
  await db.end();
  await service.stop();
  await proxy.stop();
  fs.rmSync(folder, { recursive: true });
});

const ready = async () => {
  const answer = await fetch(`${service.url}/readyz`);
  return { code: answer.status, ...((await answer.json()) as Record<string, unknown>) };
};
const devalue = () => call(service.url, "devalue", { ...onCard(company, card), amount: 100 });
const balance = async () => (await call(service.url, "balance", onCard(company, card))).body.balance;

/** Changes a setting of the database, and closes all other connections so that the new ones have it. */
async function setForDatabase(setting: string): Promise<void> {
  const name = db.escapeIdentifier(new URL(service.databaseUrl).pathname.slice(1));
  await db.query(`alter database ${name} ${setting}`);
  await db.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
}

test("/readyz reports that the database has no room left, even while it can still be read", async () => {
  await setForDatabase("set temp_file_limit = '64kB'");
  await expect.poll(ready).toMatchObject({ code: 503, status: "database has no room left" });
  await expect.poll(balance).toBe(5000);
  await setForDatabase("reset temp_file_limit");
});

test("a primary that becomes read-only is reported, and its connections are replaced", async () => {
  await setForDatabase("set default_transaction_read_only = on");
  await expect.poll(ready).toMatchObject({ code: 503, status: "database takes no writes" });
  // A balance is answered only until the next lease of calls, which is a write.
  const rejected = await devalue();
  expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([503, "1"]);
  const { exitCode, stderr } = await runCommand(["migrate"], { GIFTCARD_DATABASE_URL: service.databaseUrl });
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/takes no writes.*address of the primary/)]);
  // Open connections stay read-only, like those to a former primary. Only new ones accept writes.
  const name = db.escapeIdentifier(new URL(service.databaseUrl).pathname.slice(1));
  await db.query(`alter database ${name} reset default_transaction_read_only`);
  await expect.poll(async () => (await devalue()).status).toBe(200);
  await expect.poll(ready).toMatchObject({ code: 200 });
  expect(await balance()).toBe(4900);
});

test("a call that fails because the disk is full takes nothing, and can be retried", async () => {
  await db.query(`create function fill() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`);
  const before = await balance();
  await db.query("create trigger full_disk before insert on ledger for each row execute function fill()");
  const refused = await devalue();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await balance()).toBe(before);
  await db.query("drop trigger full_disk on ledger");
  expect((await devalue()).status).toBe(200);
  expect(await balance()).toBe(before - 100);
});

test("/readyz reports a pooler that loses prepared statements", async () => {
  expect(await ready()).toMatchObject({ code: 200 });
  proxy.set({ pattern: /giftcard-service-probe/, fault: "forget", times: Number.POSITIVE_INFINITY });
  await expect.poll(ready).toMatchObject({ code: 503, status: "pooler loses prepared statements" });
  proxy.clear();
});

test("/readyz names a migration of a newer program, and the service stays ready", async () => {
  const { rows } = await db.query("select max(version)::int + 1 as next from migrations");
  await db.query("insert into migrations (version, name) values ($1, 'of-tomorrow')", [rows[0].next]);
  expect(await ready()).toMatchObject({ code: 200, status: "ready", newer_migrations: ["of-tomorrow"] });
  expect((await devalue()).status).toBe(200);
  await db.query("delete from migrations where name = 'of-tomorrow'");
  expect(await ready()).not.toHaveProperty("newer_migrations");
});

test("if another program has migrated the database, /readyz reports it, and no command starts", async () => {
  await db.query("update migrations set name = 'of-somebody-else' where version = 1");
  expect(await ready()).toMatchObject({ code: 503, status: "database migrated by another program" });
  const env = { GIFTCARD_DATABASE_URL: service.databaseUrl, GIFTCARD_SECRETS_FILE: secretsFile };
  for (const command of ["serve", "migrate", "check"]) {
    const { exitCode, stderr } = await runCommand([command], env);
    expect([command, exitCode, stderr]).toEqual([
      command,
      7,
      expect.stringContaining("does not know the migration of-somebody-else"),
    ]);
  }
  await db.query("update migrations set name = '0001-initial' where version = 1");
});

test("the service warns once if calls come through a proxy although --proxies is 0", async () => {
  const headers = { ...basic(company.email, "wrong"), "X-Forwarded-For": "198.51.100.1" };
  const warnings = () =>
    service
      .logs()
      .split("\n")
      .flatMap((line) => (line.includes("X-Forwarded-For") ? [JSON.parse(line)] : []));
  await call(service.url, "authenticate", {}, { headers: basic(company.email, "wrong") });
  expect(warnings()).toEqual([]);
  for (let count = 0; count < 3; count++) await call(service.url, "authenticate", {}, { headers });
  await expect.poll(warnings).toMatchObject([{ level: "warn", message: expect.stringContaining("--proxies is 0") }]);
});

test("a lost connection to the database is logged like every other failure", async () => {
  const failures = () => service.logs().match(/"message":"failure"/g)?.length ?? 0;
  const before = failures();
  await setForDatabase("reset all");
  await expect.poll(failures).toBeGreaterThan(before);
  expect(service.logs()).not.toContain("a database connection broke");
});
