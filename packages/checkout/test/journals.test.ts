import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { journalConformance, purchaseConformance } from "../src/conformance.js";
import {
  type CheckoutStore,
  createPostgresStore,
  createSqlJournal,
  type Journal,
  journalSchema,
} from "../src/index.js";
import { createSqliteJournal } from "../src/sqlite-journal.js";
import { createSqliteStore } from "../src/sqlite-store.js";

const closers: (() => Promise<void> | void)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

async function openPostgres(): Promise<Journal> {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 10 });
  closers.push(() => pool.end());
  for (const statement of journalSchema.up) await pool.query(statement);
  return createSqlJournal(async (text, params) => (await pool.query(text, params)).rows);
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-journal-"));
closers.push(() => fs.rmSync(folder, { recursive: true }));
const file = path.join(folder, "journal.db");

function openSqlite(): Journal {
  const database = new DatabaseSync(file);
  closers.unshift(() => database.close());
  return createSqliteJournal(database);
}

for (const [name, open] of Object.entries({ PostgreSQL: openPostgres, SQLite: openSqlite })) {
  let journal: Promise<Journal> | undefined;
  describe(`a journal on ${name} must`, () => {
    for (const { name, run } of journalConformance(() => (journal ??= Promise.resolve(open()))))
      it(name, run);
  });
}

async function openPostgresStore() {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 10 });
  closers.push(() => pool.end());
  const store = createPostgresStore({ pool });
  await store.migrate();
  return store;
}

async function openSqliteStore() {
  const store = await createSqliteStore({ file: path.join(folder, "purchases.db") });
  closers.unshift(() => store.close());
  return store;
}

for (const [name, open] of Object.entries({ PostgreSQL: openPostgresStore, SQLite: openSqliteStore })) {
  let store: Promise<CheckoutStore> | undefined;
  describe(`a purchase book on ${name} must`, () => {
    for (const { name, run } of purchaseConformance(async () => (await (store ??= open())).purchases))
      it(name, run);
  });
}

describe("a journal in an SQLite file", () => {
  it("is shared by those who open it, and keeps what was written", async () => {
    const [one, two] = [openSqlite(), openSqlite()];
    const { count } = await one.list({});
    expect(count).toBeGreaterThan(5);
    expect((await two.list({})).count).toBe(count);
  });
});
