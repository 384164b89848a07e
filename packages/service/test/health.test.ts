import { spawn } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, startGiftcardService, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";

let service: TestService;
let db: pg.Client;

beforeAll(async () => {
  // Listens on all addresses: the command asks the loopback address.
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
/** Removes a migration, so that the service is alive but not ready. */
const loseMigration = () =>
  db.query("create table kept as select * from migrations").then(() => db.query("delete from migrations"));
const findMigration = () =>
  db.query("insert into migrations select * from kept").then(() => db.query("drop table kept"));

test("it reports whether a service is alive, and whether it can take calls", async () => {
  const [alive, ready] = [await health(), await health("--ready")];
  expect([alive, ready].map(({ exitCode, stdout }) => [exitCode, JSON.parse(stdout).status])).toEqual([
    [0, "ok"],
    [0, "ready"],
  ]);
  await loseMigration();
  const [still, not] = [await health(), await health("--ready")];
  await findMigration();
  expect(still.exitCode).toBe(0);
  expect([not.exitCode, JSON.parse(not.stdout).status]).toEqual([1, "database not migrated"]);
  expect(not.stderr).toContain("/readyz says: database not migrated");
});

test("it waits until the service can take calls", async () => {
  await loseMigration();
  const waiting = health("--ready", "--wait", "60");
  // By the time that another check has finished, this one has asked at least once.
  expect((await health("--ready")).exitCode).toBe(1);
  await findMigration();
  expect((await waiting).exitCode).toBe(0);
});

test("it does not wait for a service whose process has ended", async () => {
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const { exitCode, stderr } = await health("--port", "1", "--wait", "3600", "--pid", String(gone.pid));
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("no answer from the service")]);
});
