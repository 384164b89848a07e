import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { journalConformance, purchaseConformance } from "../conformance/index.js";
import { createPostgresStore } from "../src/index.js";
import type { CheckoutStore } from "../src/store/index.js";
import { createSqliteStore } from "../src/store/sqlite/store.js";

const closers: (() => Promise<void> | void)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-journal-"));
closers.push(() => fs.rmSync(folder, { recursive: true }));
const file = path.join(folder, "store.db");

async function openPostgres(): Promise<CheckoutStore> {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 10 });
  closers.push(() => pool.end());
  const store = createPostgresStore({ pool });
  await store.migrate();
  return store;
}

async function openSqlite(): Promise<CheckoutStore> {
  const store = await createSqliteStore({ file });
  closers.unshift(() => store.close());
  return store;
}

for (const [name, open] of Object.entries({ PostgreSQL: openPostgres, SQLite: openSqlite })) {
  let opened: Promise<CheckoutStore> | undefined;
  const store = () => (opened ??= open());
  describe(`a store on ${name} must`, () => {
    const journal = journalConformance(async () => (await store()).journal);
    const purchases = purchaseConformance(async () => (await store()).purchases);
    for (const { name, run } of [...journal, ...purchases]) it(name, run);
  });
}

describe("a journal in an SQLite file", () => {
  it("is shared by several processes, and keeps its data", async () => {
    const [{ journal: one }, { journal: two }] = [await openSqlite(), await openSqlite()];
    const { count } = await one.list({});
    expect(count).toBeGreaterThan(5);
    expect((await two.list({})).count).toBe(count);
  });
});
