import { readdirSync } from "node:fs";
import { createPostgresStore } from "@giftcard-pay/checkout";
import { postgresMigrations } from "@giftcard-pay/checkout/plugin";
import type { Migration } from "@medusajs/framework/mikro-orm/migrations";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { checkVersion, NEWEST_MIGRATION } from "../src/journal-tables/version.js";
import { refuseWhileOpen } from "../src/modules/giftcard/open-money.js";

const folder = new URL("../src/modules/giftcard/migrations/", import.meta.url);

let plugin: pg.Pool;
let store: pg.Pool;
let migrations: Migration[];
beforeAll(async () => {
  [plugin, store] = [
    new pg.Pool({ connectionString: await testDatabase(), max: 1 }),
    new pg.Pool({ connectionString: await testDatabase(), max: 1 }),
  ];
  await createPostgresStore({ pool: store }).migrate();
  migrations = [];
  for (const file of readdirSync(folder).sort()) {
    const [Made] = Object.values(await import(new URL(file, folder).href)) as (new (...args: unknown[]) => Migration)[];
    if (Made) migrations.push(new Made({}, {}));
  }
});
afterAll(async () => {
  await plugin?.end();
  await store?.end();
});

async function run(direction: "up" | "down"): Promise<void> {
  for (const migration of direction === "up" ? migrations : migrations.toReversed()) {
    migration.reset();
    await migration[direction]();
    for (const statement of migration.getQueries()) await plugin.query(String(statement));
  }
}

/** Columns, constraints and indexes of the journal's tables. The plugin has one additional index. */
async function journalOf(pool: pg.Pool): Promise<unknown[]> {
  const named = "in ('giftcard_tender', 'giftcard_charge', 'giftcard_action', 'giftcard_guess', 'giftcard_secret')";
  const { rows } = await pool.query(`
    select table_name as name, column_name || ' ' || data_type || ' ' || is_nullable || coalesce(column_default, '') as text
      from information_schema.columns where table_name ${named}
    union all
    select conrelid::regclass::text, pg_get_constraintdef(oid) from pg_constraint where conrelid::regclass::text ${named}
    union all
    select tablename, indexdef from pg_indexes where tablename ${named} and indexname <> 'giftcard_charge_changed'
    order by 1, 2`);
  return rows;
}

/** Runs a statement the way the plugin does. */
const runSql = async (text: string, params: unknown[]) => (await plugin.query(text, params)).rows;

test("each migration inserts its number, and NEWEST_MIGRATION is the last one's", async () => {
  await run("up");
  const { rows } = await plugin.query("select number from giftcard_medusa_migration order by number");
  expect(rows.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1));
  expect(NEWEST_MIGRATION).toBe(migrations.length);
  await plugin.query("drop schema public cascade; create schema public");
});

test("no migration is rolled back while money is open", async () => {
  for (const migration of migrations) {
    migration.reset();
    await migration.down();
    expect(String(migration.getQueries()[0])).toBe(refuseWhileOpen);
  }
});

test("the plugin starts only with tables of its own version", async () => {
  await expect(checkVersion(runSql)).rejects.toMatchObject({ name: "TablesError", code: "not_migrated" });
  await run("up");
  await checkVersion(runSql);
  await plugin.query("insert into giftcard_medusa_migration values ($1, 'next')", [migrations.length + 1]);
  await expect(checkVersion(runSql)).rejects.toMatchObject({ name: "TablesError", code: "too_new" });
  await plugin.query("drop schema public cascade; create schema public");
});

test("the plugin's migrations create the same journal tables as the store's, and remove everything on rollback", async () => {
  await run("up");
  const made = await journalOf(plugin);
  expect(made.length).toBeGreaterThan(60);
  expect(made).toEqual(await journalOf(store));
  expect(migrations.length).toBeGreaterThanOrEqual(postgresMigrations.length);
  // The rollback reads Medusa's own tables. Its open cart `with-card` has a session for the remainder alone.
  await plugin.query(`create schema if not exists public;
    create table cart (id text, completed_at timestamptz);
    create table cart_payment_collection (cart_id text, payment_collection_id text, deleted_at timestamptz);
    create table payment_session (id text, payment_collection_id text, status text, deleted_at timestamptz);
    create table payment (payment_session_id text, deleted_at timestamptz);
    insert into cart values ('with-card', null), ('ordered', now()), ('without', null);
    insert into cart_payment_collection select id, 'pays-' || id from cart;
    insert into payment_session select 'session-' || id, 'pays-' || id, 'pending' from cart;
    insert into giftcard_tender (id, cart_id, state, last_four, fingerprint, balance_cents, expires_at)
      select 'tender-' || id, id, 'applied', '1234', id, 100, now() from cart where id <> 'without'`);
  await run("down");
  const { rows: sessions } = await plugin.query("select id from payment_session where deleted_at is not null");
  expect(sessions).toEqual([{ id: "session-with-card" }]);
  const { rows } = await plugin.query("select tablename from pg_tables where schemaname = 'public' order by 1");
  expect(rows.map(({ tablename }) => tablename)).toEqual([
    "cart",
    "cart_payment_collection",
    "payment",
    "payment_session",
  ]);
  expect((await plugin.query("select 1 from pg_proc where proname like 'giftcard%'")).rows).toEqual([]);
});
