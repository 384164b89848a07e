import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { createPostgresStore } from "../src/index.js";
import type { TableMigration } from "../src/store/migrations.js";
import { checkVersion, migratePostgres, postgresMigrations } from "../src/store/postgres/migrate.js";
import { openSqlite } from "../src/store/sqlite/database.js";
import { migrateSqlite, sqliteMigrations } from "../src/store/sqlite/migrate.js";
import { createSqliteStore } from "../src/store/sqlite/store.js";

const tooNew = expect.objectContaining({ name: "StoreError", code: "too_new" });

interface Database {
  run(sql: string): Promise<Record<string, unknown>[]>;
  /** Opens it as a shop of this release does. */
  open(): Promise<unknown>;
  /** Runs these migrations after all of this release, as a later release does. */
  migrate(more: readonly TableMigration[]): Promise<void>;
  close(): Promise<void>;
}

async function openPostgres(): Promise<Database> {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 4 });
  return {
    run: async (sql) => (await pool.query(sql)).rows,
    open: () => createPostgresStore({ pool }).migrate(),
    migrate: (more) => migratePostgres(pool, "public", [...postgresMigrations, ...more]),
    close: () => pool.end(),
  };
}

async function openSqliteFile(): Promise<Database> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-migrations-"));
  const file = path.join(folder, "shop.db");
  const database = new DatabaseSync(file);
  return {
    async run(sql) {
      if (sql.startsWith("select")) return database.prepare(sql).all();
      database.exec(sql);
      return [];
    },
    open: async () => (await createSqliteStore({ file })).close(),
    migrate: async (more) => migrateSqlite(openSqlite(database), [...sqliteMigrations, ...more]),
    async close() {
      database.close();
      fs.rmSync(folder, { recursive: true });
    },
  };
}

/** A migration with this place after this release's, which changes the journal and the purchases. */
const later = (place: number, journal: string, purchases = ""): TableMigration => ({
  ...{ number: postgresMigrations.length + place, release: `later ${place}`, journal, purchases },
});

describe.each([
  ["PostgreSQL", "now()", openPostgres],
  ["SQLite", "0", openSqliteFile],
])("the tables on %s", (_, now, openDatabase) => {
  it("get later migrations once and in order, with their rows, and are then refused by this release", async () => {
    const database = await openDatabase();
    await database.open();
    await database.run(`insert into giftcard_guess (key, count, resets_at) values ('cart', 7, ${now})`);
    const second = later(1, "alter table giftcard_guess add column twice integer not null default 1;");
    const third = later(
      2,
      "update giftcard_guess set twice = twice * 2;",
      "update giftcard_guess set count = count + twice;",
    );
    const broken = later(
      2,
      "update giftcard_guess set twice = twice * 2;",
      "alter table giftcard_nothing add column a text;",
    );
    await expect(database.migrate([second, broken])).rejects.toThrow();
    const version = "select max(number) as version from giftcard_migration";
    expect(await database.run(version)).toEqual([{ version: postgresMigrations.length }]);
    await Promise.all([database.migrate([second]), database.migrate([second])]);
    await Promise.all([database.migrate([second, third]), database.migrate([second, third])]);
    expect(await database.run("select count, twice from giftcard_guess")).toEqual([{ count: 9, twice: 2 }]);
    expect(await database.run(version)).toEqual([{ version: postgresMigrations.length + 2 }]);
    await expect(database.open()).rejects.toEqual(tooNew);
    await expect(database.migrate([])).rejects.toEqual(tooNew);
    await database.close();
  });
});

it("missing, older or newer tables on PostgreSQL are reported by every call, until they match", async () => {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 2 });
  const store = createPostgresStore({ pool, schema: "cards" });
  const notMigrated = expect.objectContaining({
    code: "not_migrated",
    message: expect.stringContaining("store.migrate()"),
  });
  await expect(store.journal.now()).rejects.toEqual(notMigrated);
  await migratePostgres(pool, "cards", []);
  await expect(store.journal.now()).rejects.toEqual(notMigrated);
  await Promise.all([store.migrate(), store.migrate()]);
  expect(await store.journal.countByState()).toEqual({});
  await pool.query("insert into cards.giftcard_migration (number, release) values (99, 'next')");
  await expect(createPostgresStore({ pool, schema: "cards" }).journal.now()).rejects.toEqual(tooNew);
  await expect(checkVersion(pool, "cards")).rejects.toThrow(/upgrade @giftcard-pay\/checkout/);
  await pool.end();
});

it("a migration on PostgreSQL that waits for a newer release's migration reports too_new", async () => {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 5 });
  await migratePostgres(pool, "public");
  await pool.query("create table gate (id integer)");
  const gate = await pool.connect();
  await gate.query("begin; lock table gate in access exclusive mode");
  const waitsFor = async (locktype: string) => {
    const { rows } = await pool.query("select 1 from pg_locks where locktype = $1 and not granted", [locktype]);
    return rows.length;
  };
  const number = postgresMigrations.length + 1;
  const next = { number, release: "next", journal: "insert into gate values (1);", purchases: "" };
  const newer = migratePostgres(pool, "public", [...postgresMigrations, next]);
  await expect.poll(() => waitsFor("relation")).toBe(1);
  const told = expect(migratePostgres(pool, "public")).rejects.toEqual(tooNew);
  await expect.poll(() => waitsFor("advisory")).toBe(1);
  await gate.query("commit");
  gate.release();
  await newer;
  await told;
  await pool.end();
});

it("concurrent migrations on PostgreSQL all succeed, even if transactions are serializable", async () => {
  const url = await testDatabase();
  const pool = new pg.Pool({
    connectionString: url,
    max: 4,
    options: "-c default_transaction_isolation=serializable",
  });
  const gate = await pool.connect();
  // The first migration waits for this name, and the others for the first.
  await gate.query("begin; create table giftcard_migration (theirs text)");
  const made = Promise.all([migratePostgres(pool, "public"), migratePostgres(pool, "public")]);
  const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
  await expect.poll(async () => (await pool.query(waiting)).rows.length).toBe(1);
  await gate.query("rollback");
  gate.release();
  await made;
  await checkVersion(pool, "public");
  await pool.end();
});
