import { spawn } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, startGiftcardService, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";

let service: TestService;
let db: pg.Client;

beforeAll(async () => {
  // The service listens on all addresses, so the command calls the loopback address.
  service = await startGiftcardService({ databaseUrl: await testDatabase(), args: ["--host", "0.0.0.0"] });
  db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
});
afterAll(async () => {
  await db.end();
  await service.stop();
});

const health = (...args: string[]) =>
  runCommand(["health", "--json", ...args], {
    GIFTCARD_HOST: "0.0.0.0",
    GIFTCARD_PORT: new URL(service.url).port,
  });
/** Moves the migrations' rows away: the service is then alive but not ready. */
const hideMigrations = () =>
  db.query("create table kept as select * from migrations").then(() => db.query("delete from migrations"));
const restoreMigrations = () =>
  db.query("insert into migrations select * from kept").then(() => db.query("drop table kept"));

test("health reports whether a service is alive, and whether it is ready for calls", async () => {
  const [alive, ready] = [await health(), await health("--ready")];
  expect([alive, ready].map(({ exitCode, stdout }) => [exitCode, JSON.parse(stdout).status])).toEqual([
    [0, "ok"],
    [0, "ready"],
  ]);
  await hideMigrations();
  const [stillAlive, notReady] = [await health(), await health("--ready")];
  await restoreMigrations();
  expect(stillAlive.exitCode).toBe(0);
  expect([notReady.exitCode, JSON.parse(notReady.stdout).status]).toEqual([1, "database not migrated"]);
  expect(notReady.stderr).toContain("/readyz says: database not migrated");
});

test("health --wait waits until the service is ready", async () => {
  await hideMigrations();
  const waiting = health("--ready", "--wait", "60");
  // When this second check has finished, the waiting one has asked at least once.
  expect((await health("--ready")).exitCode).toBe(1);
  await restoreMigrations();
  expect((await waiting).exitCode).toBe(0);
});

test("health --wait does not wait for a service whose process has exited", async () => {
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const { exitCode, stderr } = await health("--port", "1", "--wait", "3600", "--pid", String(gone.pid));
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("no answer from the service")]);
});
