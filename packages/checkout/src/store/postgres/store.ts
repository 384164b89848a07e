import type { CheckoutStore } from "../checkout-store.js";
import { createSqlJournal } from "./journal.js";
import { checkVersion, migratePostgres, type PgPool } from "./migrate.js";
import { createSqlPurchases } from "./purchases.js";
import type { Sql } from "./sql.js";

/** Adds the schema to the names of the tables. */
function qualify(text: string, schema: string): string {
  return text.replace(
    /(?<!['"\w])giftcard_(tender|charge|action|guess|secret|purchase|refund)(?!\w)/g,
    `"${schema}".$&`,
  );
}

/**
 * Makes a store on PostgreSQL, for any number of processes. Its first call checks the version of the tables, and throws a
 * `StoreError` if it doesn't match this release: `not_migrated` or `too_new`.
 *
 * @param options.pool a `pg` pool; the store doesn't end it
 * @param options.schema the schema of the tables. Default `public`
 * @returns the store, and `migrate`, which creates its tables
 * @throws {TypeError} if the schema's name has other characters than lower-case letters, digits and underscores
 */
export function createPostgresStore(options: { pool: PgPool; schema?: string }): CheckoutStore & {
  /**
   * Creates or migrates the tables; run it before the shop starts.
   *
   * @throws {StoreError} too_new if a newer release has made them
   */
  migrate(): Promise<void>;
} {
  const { pool, schema = "public" } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new TypeError("The schema's name must be lower-case letters, digits and underscores.");
  }
  let whenChecked: Promise<void> | undefined;
  const sql: Sql = async (text, params) => {
    whenChecked ??= checkVersion(pool, schema);
    await whenChecked.catch((error: unknown) => {
      whenChecked = undefined;
      throw error;
    });
    return (await pool.query(qualify(text, schema), params)).rows;
  };
  return {
    journal: createSqlJournal(sql),
    purchases: createSqlPurchases(sql),
    migrate: () => migratePostgres(pool, schema),
  };
}
