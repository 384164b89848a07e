import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, startGiftcardService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import frozen from "./releases/migrations.json" with { type: "json" };

const migrations = path.join(import.meta.dirname, "..", "migrations");
const files = fs.readdirSync(migrations).sort();
const names = files.map((file) => path.basename(file, ".sql"));
const NEWER = names.length + 1;

let databaseUrl: string;
let db: pg.Client;

beforeAll(async () => {
  databaseUrl = await testDatabase();
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});
afterAll(() => db.end());

const migrate = async (url: string) => runCommand(["migrate", "--json"], { GIFTCARD_DATABASE_URL: url });

test("released migrations are unchanged: add a new migration instead of editing one", () => {
  const hashOf = (file: string) =>
    createHash("sha256")
      .update(fs.readFileSync(path.join(migrations, file)))
      .digest("hex");
  const released = Object.keys(frozen);
  expect(released.length).toBeGreaterThan(0);
  expect(Object.fromEntries(released.map((file) => [file, hashOf(file)]))).toEqual(frozen);
});

test("migrations are numbered without gaps", () => {
  expect(files.map((file) => /^(\d{4})-[a-z-]+\.sql$/.exec(file)?.[1])).toEqual(
    files.map((_, index) => String(index + 1).padStart(4, "0")),
  );
});

test("if several processes migrate concurrently, one applies the migrations and records them", async () => {
  const done = await Promise.all(Array.from({ length: 5 }, () => migrate(databaseUrl)));
  expect(done.map(({ exitCode }) => exitCode)).toEqual(done.map(() => 0));
  expect(done.flatMap(({ stdout }) => JSON.parse(stdout).applied).sort()).toEqual(names);
  const { rows } = await db.query("select version, name from migrations order by version");
  expect(rows).toEqual(names.map((name, index) => ({ version: index + 1, name })));
});

test("if several processes migrate concurrently at serializable, one applies the migrations, and the others find them applied", async () => {
  const url = await testDatabase();
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  const name = other.escapeIdentifier(new URL(url).pathname.slice(1));
  await other.query(`alter database ${name} set default_transaction_isolation = 'serializable'`);
  // All processes wait for this table, so that none finishes before the others start.
  await other.query("begin; create table migrations (theirs text)");
  const done = Array.from({ length: 3 }, () => migrate(url));
  const waiting = "select count(*)::int as count from pg_locks where locktype = 'advisory'";
  await expect.poll(async () => (await db.query(waiting)).rows[0].count).toBe(3);
  await other.query("rollback");
  const applied = (await Promise.all(done)).map(({ stdout }) => JSON.parse(stdout).applied);
  expect(applied.map((one) => one?.length).sort()).toEqual([0, 0, names.length]);
  await other.end();
});

test("a migration that fails changes nothing and reports the reason", async () => {
  const other = await testDatabase();
  const theirs = new pg.Client({ connectionString: other });
  await theirs.connect();
  await theirs.query("create table cards (theirs text)");
  const { exitCode, stdout } = await migrate(other);
  expect([exitCode, JSON.parse(stdout).error]).toEqual([
    1,
    'Migration 0001-initial failed, and nothing was changed: relation "cards" already exists',
  ]);
  const { rows } = await theirs.query("select tablename from pg_tables where schemaname = 'public'");
  await theirs.end();
  expect(rows).toEqual([{ tablename: "cards" }]);
});

test("a program refuses to start on the tables of a newer one, but a running program continues", async () => {
  const service = await startGiftcardService({ databaseUrl });
  await db.query("insert into migrations (version, name) values ($1, 'of-tomorrow')", [NEWER]);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  for (const command of ["migrate", "serve", "check"]) {
    const { exitCode, stderr } = await runCommand([command], { GIFTCARD_DATABASE_URL: databaseUrl });
    expect([command, exitCode, stderr]).toEqual([
      command,
      7,
      `error: The database is newer than this program: its tables have version ${NEWER}, and this program knows ` +
        `${NEWER - 1}. Run the program that migrated it, or a newer one.\n`,
    ]);
  }
  await db.query("delete from migrations where version = $1", [NEWER]);
  await service.stop();
});
