import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { inject } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import { createPostgresStore } from "../src/index.js";
import type { CheckoutStore } from "../src/store/index.js";
import { createSqliteStore } from "../src/store/sqlite/store.js";

/** A store, with direct access to its tables. */
export interface TestStore extends CheckoutStore {
  /** Runs plain SQL. */
  sql(text: string): Promise<void>;
  /** Makes all leases run out, and all next attempts due. */
  letLeasesRunOut(tables?: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

async function openPostgres(): Promise<TestStore> {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 10 });
  const store = createPostgresStore({ pool, schema: "gift_cards" });
  await Promise.all([store.migrate(), store.migrate()]);
  const sql = async (text: string) => void (await pool.query(text.replace(/giftcard_/g, "gift_cards.$&")));
  const past = "now() - interval '1 second'";
  return { ...store, sql, letLeasesRunOut: (tables) => sql(lapse(past, tables)), close: () => pool.end() };
}

async function openSqlite(): Promise<TestStore> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-store-"));
  const file = path.join(folder, "shop.db");
  const store = await createSqliteStore({ file });
  const tables = new DatabaseSync(file);
  const sql = async (text: string) => tables.exec(text);
  return {
    ...store,
    sql,
    letLeasesRunOut: (tables) => sql(lapse("0", tables)),
    close: async () => {
      tables.close();
      store.close();
      fs.rmSync(folder, { recursive: true });
    },
  };
}

const lapse = (past: string, tables: readonly string[] = ["charge", "purchase"]) =>
  tables
    .map(
      (table) => `update giftcard_${table} set next_try_at = ${past},
        lease_until = case when lease_until is null then null else ${past} end`,
    )
    .join("; ");

declare module "vitest" {
  interface ProvidedContext {
    /** The only kind of store to test: that of the mutants. */
    onlyStore?: string;
  }
}

const all = { PostgreSQL: openPostgres, SQLite: openSqlite };
const only = inject("onlyStore");

/** Opens a new store of each tested kind. */
export const stores: Readonly<Record<string, () => Promise<TestStore>>> = Object.fromEntries(
  Object.entries(all).filter(([name]) => only === undefined || name === only),
);
