import type { DatabaseSync } from "node:sqlite";
import type { CheckoutStore } from "../checkout-store.js";
import { openSqlite } from "./database.js";
import { createSqliteJournal } from "./journal.js";
import { migrateSqlite } from "./migrate.js";
import { createSqlitePurchases } from "./purchases.js";

/**
 * A store in one SQLite file, for a shop on one machine; its processes may share the file. Needs `node:sqlite`, which
 * Node has from 22.13.
 *
 * Opening it brings its tables up to date.
 *
 * @param options.file where it stands; made if it isn't there. Keep it private (mode 0600) and back it up
 * @returns the store, and `close`
 * @throws {StoreError} too_new, when a newer release has made its tables
 */
export async function createSqliteStore(options: { file: string }): Promise<
  CheckoutStore & {
    /** Closes the file; nothing can be read or written after it. */
    close(): void;
  }
> {
  // Imported here, so that a shop on PostgreSQL needs no Node that has it.
  const { DatabaseSync } = await import("node:sqlite");
  const database: DatabaseSync = new DatabaseSync(options.file);
  const close = () => database.close();
  try {
    const sqlite = openSqlite(database);
    migrateSqlite(sqlite);
    return { journal: createSqliteJournal(sqlite), purchases: createSqlitePurchases(sqlite), close };
  } catch (error) {
    close();
    throw error;
  }
}
