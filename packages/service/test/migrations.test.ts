import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { runCommand, startGiftcardService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { openPool } from "../src/database/database.js";
import { checkMigrated, migrate as migrateIn } from "../src/database/migrations.js";

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

/** Copies the migrations into a folder of their own, with a second one. */
function withSecond(sql: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-migrations-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  fs.cpSync(migrations, folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${SECOND}.sql`), sql);
  return folder;
}
const SECOND = `${String(NEWER).padStart(4, "0")}-second`;

/** Opens the pool of a migrated database with a card. */
async function openMigrated() {
  const pool = openPool(await testDatabase(), () => {});
  onTestFinished(() => pool.end());
  await migrateIn(pool);
  await pool.query(
    "insert into cards (number_hash, pin_hash, last_four, expiry_date) values ('1', '2', '0000', '2099-12-31')",
  );
  return pool;
}

test("a second migration runs once, keeps the rows, and gives up a table that is in use, so that no call waits for long", async () => {
  const pool = await openMigrated();
  const folder = withSecond("alter table cards add column note text not null default 'none';");
  // Such as a long import.
  const holder = await pool.connect();
  await holder.query("begin; select from cards");
  const migrating = migrateIn(pool, folder);
  let longestMs = 0;
  for (let calls = 0; calls < 50; calls++) {
    const startedAtMs = performance.now();
    await pool.query("update cards set blocked = not blocked");
    longestMs = Math.max(longestMs, performance.now() - startedAtMs);
    await sleep(50);
  }
  await holder.query("commit");
  holder.release();
  expect(await migrating).toEqual([SECOND]);
  // Above the lock timeout of a migration: a caller waits for one try of it, and for a slow machine.
  expect(longestMs).toBeLessThan(3000);
  expect(await migrateIn(pool, folder)).toEqual([]);
  expect((await pool.query("select note, last_four from cards")).rows).toEqual([{ note: "none", last_four: "0000" }]);
  await expect(checkMigrated(pool)).rejects.toThrow("newer than this program");
});

test("a second migration that fails changes nothing", async () => {
  const pool = await openMigrated();
  const folder = withSecond("alter table cards add column note text; insert into no_table values (1);");
  await expect(migrateIn(pool, folder)).rejects.toThrow(`Migration ${SECOND} failed, and nothing was changed`);
  await checkMigrated(pool);
  await expect(pool.query("select note from cards")).rejects.toThrow("note");
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
