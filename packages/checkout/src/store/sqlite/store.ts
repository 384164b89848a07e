import type { DatabaseSync } from "node:sqlite";
import { checkNames } from "../../option-names.js";
import type { CheckoutStore } from "../purchase-store.js";
import { createJournal } from "../sql/journal.js";
import { createPurchases } from "../sql/purchases.js";
import { openSqlite } from "./database.js";
import { migrateSqlite } from "./migrate.js";

/**
 * Opens a store in an SQLite file, for a shop on one machine; its processes can share the file. Opening it creates or
 * migrates its tables. Needs `node:sqlite`, which Node has since 22.13.
 *
 * @param options.file the path of the file, which is created if missing. Keep it private (mode 0600) and back it up
 * @returns the store, and `close`
 * @throws {Error} on an older Node; {TypeError} without a file, or with an unknown option
 * @throws {StoreError} too_new if a newer release has made its tables
 */
export async function createSqliteStore(options: { file: string }): Promise<
  CheckoutStore & {
    /** Closes the file. The store can't be used afterwards. */
    close(): void;
  }
> {
  if (typeof options?.file !== "string") throw new TypeError("createSqliteStore: file has to be a path.");
  checkNames("createSqliteStore", options, ["file"]);
  // Imported here, so that a shop on PostgreSQL can use a Node without it.
  const { DatabaseSync } = await import("node:sqlite").catch(() => {
    throw new Error("createSqliteStore needs node:sqlite, so Node 22.13 or newer. Otherwise use PostgreSQL.");
  });
  const database: DatabaseSync = new DatabaseSync(options.file);
  const close = () => database.close();
  try {
    const sqlite = openSqlite(database);
    migrateSqlite(sqlite);
    return { journal: createJournal(sqlite.store), purchases: createPurchases(sqlite.store), close };
  } catch (error) {
    close();
    throw error;
  }
}
