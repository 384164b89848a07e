import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { CheckoutStore } from "../../src/store/index.js";
import { createJournal } from "../../src/store/sql/journal.js";
import { createPurchases } from "../../src/store/sql/purchases.js";
import { openSqlite } from "../../src/store/sqlite/database.js";
import { migrateSqlite } from "../../src/store/sqlite/migrate.js";

/** A row of a table. */
export type Row = Readonly<Record<string, string | number | null>>;

const tables = [
  "giftcard_action",
  "giftcard_charge",
  "giftcard_tender",
  "giftcard_guess",
  "giftcard_purchase",
  "giftcard_refund",
];

/** The SQLite store, in memory. Each statement is compiled once, whatever the number of histories. */
export class MemoryStore {
  readonly store: CheckoutStore;
  readonly #all: (text: string, ...values: (string | number)[]) => Row[];

  constructor() {
    const database = new DatabaseSync(":memory:");
    const prepare = database.prepare.bind(database);
    const prepared = new Map<string, StatementSync>();
    database.prepare = (text: string) => {
      let statement = prepared.get(text);
      if (!statement) prepared.set(text, (statement = prepare(text)));
      return statement;
    };
    const sqlite = openSqlite(database);
    migrateSqlite(sqlite);
    this.#all = (text, ...values) => database.prepare(text).all(...values) as Row[];
    this.store = { journal: createJournal(sqlite.store), purchases: createPurchases(sqlite.store) };
  }

  /** Reads all rows of a query, outside of the simulation. */
  read(text: string, ...values: (string | number)[]): Row[] {
    return this.#all(text, ...values);
  }

  /** Empties it. */
  clear(): void {
    for (const table of tables) this.#all(`delete from ${table}`);
  }
}
