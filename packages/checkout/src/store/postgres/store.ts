import { checkNames } from "../../option-names.js";
import type { Journal } from "../journal.js";
import type { CheckoutStore } from "../purchase-store.js";
import type { Sql } from "../sql/database.js";
import { createJournal } from "../sql/journal.js";
import { createPurchases } from "../sql/purchases.js";
import { postgresDatabase } from "./database.js";
import { retryLostConnections } from "./lost-connections.js";
import { checkVersion, migratePostgres, type PgPool } from "./migrate.js";

/** Adds the schema to the names of the tables. */
function qualify(text: string, schema: string): string {
  return text.replace(
    /(?<!['"\w])giftcard_(tender|charge|action|guess|secret|purchase|refund)(?!\w)/g,
    `"${schema}".$&`,
  );
}

/**
 * Makes a store on PostgreSQL, for any number of processes. Its first call throws a `StoreError` if the
 * tables don't match this release: `not_migrated` or `too_new`. If a connection is lost, its statement is
 * retried on another one; after three retries, the call throws `connection_lost`.
 *
 * @param options.pool a `pg` pool; the store doesn't end it
 * @param options.schema the schema of the tables. Default `public`
 * @returns the store, and `migrate`, which creates its tables
 * @throws {TypeError} without a pool, with an unknown option, or if the schema's name has other characters than lower-case letters, digits and underscores
 */
export function createPostgresStore(options: { pool: PgPool; schema?: string }): CheckoutStore & {
  /**
   * Creates or migrates the tables; run it before the shop starts.
   *
   * @throws {StoreError} too_new if a newer release has made them
   */
  migrate(): Promise<void>;
} {
  checkNames("createPostgresStore", options, ["pool", "schema"]);
  const { pool, schema = "public" } = options;
  if (typeof pool?.query !== "function") throw new TypeError("createPostgresStore: pool has to be a pool of pg.");
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new TypeError("The schema's name must be lower-case letters, digits and underscores.");
  }
  let whenChecked: Promise<void> | undefined;
  const run = retryLostConnections(pool, `the schema "${schema}"`);
  const steadyPool: PgPool = { query: async (text, params) => ({ rows: await run(text, params) }) };
  const sql: Sql = async (text, params, whenLost) => {
    whenChecked ??= checkVersion(steadyPool, schema);
    await whenChecked.catch((error: unknown) => {
      whenChecked = undefined;
      throw error;
    });
    if (typeof whenLost !== "object") return run(qualify(text, schema), params, whenLost);
    const [written, keys] = whenLost;
    return run(qualify(text, schema), params, [qualify(written, schema), keys]);
  };
  const database = postgresDatabase(sql);
  return {
    journal: createJournal(database),
    purchases: createPurchases(database),
    migrate: () => migratePostgres(steadyPool, schema),
  };
}

/** Makes the journal for a plugin that runs the statements itself, on PostgreSQL. */
export const createSqlJournal = (sql: Sql): Journal => createJournal(postgresDatabase(sql));
