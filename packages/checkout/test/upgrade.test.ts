import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { cents, Secret } from "@giftcard-pay/client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { createCheckout, createPostgresStore } from "../src/index.js";
import { createSealer } from "../src/plugin.js";
import type { CheckoutStore } from "../src/store/index.js";
import { chargeStates } from "../src/store/index.js";
import type { TableMigration } from "../src/store/migrations.js";
import { checkVersion, migratePostgres, postgresMigrations } from "../src/store/postgres/migrate.js";
import { openSqlite } from "../src/store/sqlite/database.js";
import { migrateSqlite, sqliteMigrations } from "../src/store/sqlite/migrate.js";
import { createSqliteStore } from "../src/store/sqlite/store.js";
import { Bank } from "./bank.js";
import { type Shop, sealingKeys, startShop, type TestCard } from "./shop.js";

const tooNew = expect.objectContaining({ name: "StoreError", code: "too_new" });
const folder = new URL("./releases/", import.meta.url);
const read = (release: string, file: string) => fs.readFileSync(new URL(`${release}/${file}`, folder), "utf8");

/** A database with the tables of an old release. */
interface OldDatabase {
  /** Formats a time, in minutes from now. */
  moment(minutes: number): string;
  run(sql: string): Promise<Record<string, unknown>[]>;
  /** Opens it with the current release, and migrates its tables. */
  open(): Promise<CheckoutStore>;
  /** Runs further migrations, as a newer release does. */
  migrate(more: readonly TableMigration[]): Promise<void>;
  close(): Promise<void>;
}

async function oldPostgres(): Promise<OldDatabase> {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 4 });
  const store = createPostgresStore({ pool });
  return {
    moment: (minutes) => `now() + interval '${minutes} minutes'`,
    run: async (sql) => (await pool.query(sql)).rows,
    async open() {
      await store.migrate();
      return store;
    },
    migrate: (more) => migratePostgres(pool, "public", [...postgresMigrations, ...more]),
    close: () => pool.end(),
  };
}

async function oldSqlite(): Promise<OldDatabase> {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-upgrade-"));
  const file = path.join(temporary, "shop.db");
  const database = new DatabaseSync(file);
  const stores: { close(): void }[] = [];
  return {
    moment: (minutes) => String(Date.now() + minutes * 60_000),
    async run(sql) {
      if (sql.startsWith("select")) return database.prepare(sql).all();
      database.exec(sql);
      return [];
    },
    async open() {
      const store = await createSqliteStore({ file });
      stores.push(store);
      return store;
    },
    migrate: async (more) => migrateSqlite(openSqlite(database), [...sqliteMigrations, ...more]),
    async close() {
      for (const store of stores) store.close();
      database.close();
      fs.rmSync(temporary, { recursive: true });
    },
  };
}

/** The states of charges that the service has. */
const charged = ["sent", "unknown", "devalued", "reversing", "committed", "captured"] as const;

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

const databases = {
  PostgreSQL: { file: "postgres.sql", make: oldPostgres },
  SQLite: { file: "sqlite.sql", make: oldSqlite },
};
for (const [name, { file, make }] of Object.entries(databases)) {
  for (const release of fs.readdirSync(folder)) {
    describe(`a shop on ${name} that upgrades from ${release}`, () => {
      const cards = new Map<string, TestCard>();
      const references = Object.fromEntries(chargeStates.map((state) => [state, `gc_${randomUUID()}`]));
      const referenceOf = (state: string) => references[state] as string;
      let database: OldDatabase;
      let store: CheckoutStore;
      let bank: Bank;

      /** Charges each card at the service, as the old release did, and returns its rows. */
      async function rowsOf(): Promise<string> {
        const sealer = createSealer({ keys: sealingKeys });
        const texts: Record<string, string> = { ...references, baseUrl: shop.client.baseUrl };
        for (const state of charged) {
          const card = await shop.card(5000);
          cards.set(state, card);
          const of = { cardNumber: new Secret(card.cardNumber), pin: new Secret(card.pin) };
          const order = { ...of, amountCents: cents(1000), reference: referenceOf(state) };
          const { cancelToken } = await shop.client.devalue(order);
          texts[`${state} token`] = await sealer.sealToken(cancelToken, referenceOf(state));
        }
        texts.companyId = String(shop.client.companyId);
        Object.assign(texts, { earlier: database.moment(-60), later: database.moment(60) });
        return read(release, "rows.sql").replace(/\{([a-zA-Z_ ]+)\}/g, (_, key: string) => texts[key] as string);
      }

      const checkout = () =>
        createCheckout({
          ...{ issuer: shop.client, environment: "sandbox", store, sealingKeys, remainder: bank.method },
        });

      beforeAll(async () => {
        database = await make();
        bank = new Bank();
        bank.payments.set("run-pending", { cents: 2000, state: "authorized" });
        bank.payments.set("run-refunding", { cents: 1500, state: "authorized" });
        await database.run(read(release, file));
        await database.run(await rowsOf());
        store = await database.open();
      });
      afterAll(() => database?.close());

      it("reads every charge, card, decision and purchase unchanged", async () => {
        for (const state of chargeStates) {
          const found = await store.journal.charge(referenceOf(state));
          expect(found).toMatchObject({ state, amountCents: 1000, tenderId: state });
          expect((await store.journal.tender(state))?.balanceCents).toBe(5000);
        }
        expect(await store.journal.actions(referenceOf("taken"))).toMatchObject([{ actor: "ada", toState: "taken" }]);
        expect((await store.journal.tenders("cart")).map(({ id }) => id)).toEqual(["applied", "lapsed"]);
        for (const state of [
          "charging",
          "pending",
          "paid",
          "voiding",
          "failed",
          "canceling",
          "canceled",
          "refunding",
          "refunded",
        ])
          expect(await store.purchases.read(state)).toMatchObject({
            state,
            attemptId: `run-${state}`,
            totalCents: 2000,
          });
      });

      it("uses the cards of its carts", async () => {
        const limits = { quoteLifeMs: 2 * 60 * 60_000, maxCards: 2 };
        expect(await store.journal.applyQuote("cart", "quoted", limits)).toBe("applied");
        expect(await store.journal.removeTender("cart", "applied")).toBe("removed");
        expect(await store.journal.takeGuess([{ key: "address", max: 3 }], 1000)).toBeGreaterThan(0);
      });

      it("settles charges that its last process left, to the cent", async () => {
        await checkout().recover();
        const states = async () => {
          const found = await Promise.all(chargeStates.map((state) => store.journal.charge(referenceOf(state))));
          return Object.fromEntries(chargeStates.map((state, index) => [state, found[index]?.state]));
        };
        const recovered = {
          ...{
            intent: "refused",
            sent: "reversed",
            unknown: "reversed",
            devalued: "reversed",
            reversing: "reversed",
          },
          ...{ committed: "committed", captured: "captured", needs_attention: "needs_attention" },
          ...{ refused: "refused", reversed: "reversed", taken: "taken" },
        };
        expect(await states()).toEqual(recovered);
        await shop.engine({ journal: store.journal }).capture("pay-committed");
        await shop.engine({ journal: store.journal }).reverse(referenceOf("captured"), "refunded");
        await checkout().operator.markNotTaken(referenceOf("needs_attention"), "ada");
        const ended = { committed: "captured", captured: "reversed", needs_attention: "refused" };
        expect(await states()).toEqual({ ...recovered, ...ended });
        for (const [state, card] of cards)
          expect([state, await card.balanceCents()]).toEqual([state, state === "committed" ? 4000 : 5000]);
      });

      it("settles purchases that its last process left", async () => {
        const ended = {
          charging: "failed",
          pending: "paid",
          voiding: "failed",
          canceling: "canceled",
          refunding: "refunded",
        };
        for (const [before, after] of Object.entries(ended))
          expect([before, (await store.purchases.read(before))?.state]).toEqual([before, after]);
        expect([...bank.refunds]).toEqual([["run-refunding:2", { attemptId: "run-refunding", cents: 1500 }]]);
        expect((await store.purchases.refunds("refunding")).map(({ doneAt }) => doneAt !== null)).toEqual([
          ...[true, true],
        ]);
      });

      it("accepts a further migration with all its data, and is then refused by this release", async () => {
        const next: TableMigration = {
          ...{ number: postgresMigrations.length + 1, release: "next" },
          journal: "alter table giftcard_charge add column channel text not null default 'web';",
          purchases: "alter table giftcard_purchase add column channel text not null default 'web';",
        };
        const broken = { ...next, purchases: "alter table giftcard_nothing add column channel text;" };
        await expect(database.migrate([broken])).rejects.toThrow();
        expect(await database.run("select max(number) as version from giftcard_migration")).toEqual([
          { version: postgresMigrations.length },
        ]);
        await Promise.all([database.migrate([next]), database.migrate([next])]);
        const count = async (table: string) => {
          const [row] = await database.run(`select count(*) as count from ${table} where channel = 'web'`);
          return Number(row?.count);
        };
        expect([await count("giftcard_charge"), await count("giftcard_purchase")]).toEqual([11, 9]);
        await expect(database.open()).rejects.toEqual(tooNew);
        await expect(database.migrate([])).rejects.toEqual(tooNew);
      });
    });
  }
}

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
