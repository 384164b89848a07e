import type { CheckoutStore } from "../checkout-store.js";
import { createSqlJournal } from "./journal.js";
import { checkVersion, migratePostgres, type PgPool } from "./migrate.js";
import { createSqlPurchases } from "./purchases.js";
import type { Sql } from "./sql.js";

/** Puts the schema before the tables' names. */
function qualify(text: string, schema: string): string {
  return text.replace(
    /(?<!['"\w])giftcard_(tender|charge|action|guess|secret|purchase|refund)(?!\w)/g,
    `"${schema}".$&`,
  );
}

/**
 * A store on PostgreSQL, shared by as many processes as there are. Its first call looks whether the tables are those of
 * this release, and throws a `StoreError` where they aren't: `not_migrated` or `too_new`.
 *
 * @param options.pool a `pg` pool, which stays yours to end
 * @param options.schema the schema of the tables. Default `public`
 * @returns the store, and `migrate`, which makes its tables
 * @throws {TypeError} when the schema's name isn't a plain one
 */
export function createPostgresStore(options: { pool: PgPool; schema?: string }): CheckoutStore & {
  /**
   * Makes the tables, or brings them up to date; run it before the shop starts.
   *
   * @throws {StoreError} too_new, when a newer release has made them
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
