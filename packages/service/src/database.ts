import fs from "node:fs/promises";
import path from "node:path";
import { Kysely, type MigrationProvider, Migrator, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { retryConflicts } from "./conflicts.js";
import { exitCodes, OperatorError } from "./operator-error.js";

/** Whole cents and identifiers fit a number; dates and times stay the strings that the wire shows. */
const AS_NUMBER = [pg.types.builtins.INT8];
const AS_TEXT = [pg.types.builtins.DATE, pg.types.builtins.TIME];
const types = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (AS_NUMBER.includes(oid)) return Number;
    if (AS_TEXT.includes(oid)) return String;
    return pg.types.getTypeParser(oid, format as "text");
  },
} as pg.CustomTypesConfig;

/** Anything that runs a statement: the pool, or one connection in a transaction. */
export type Queryable = Pick<pg.Pool, "query">;

/** Opens a pool. It connects when it is first used. `onError` hears of connections that broke while idle. */
export function openPool(url: string, onError: (error: Error) => void, maxConnections = 16): pg.Pool {
  let pool: pg.Pool;
  try {
    pool = new pg.Pool({
      connectionString: url,
      max: maxConnections,
      types,
      application_name: "giftcard-service",
      connectionTimeoutMillis: 5000,
      statement_timeout: 15_000,
      idle_in_transaction_session_timeout: 15_000,
    });
  } catch {
    throw new OperatorError("The database address is not a postgres:// address.", exitCodes.usage);
  }
  pool.on("error", onError);
  return pool;
}

/** Checks that the database answers. The address is never shown: it holds the password. */
export async function checkConnection(pool: pg.Pool): Promise<void> {
  try {
    await pool.query("select 1");
  } catch (error) {
    const { code } = error as { code?: string };
    throw new OperatorError(
      `The database cannot be reached${code ? ` (${code})` : ""}. Check its address, user and password.`,
      exitCodes.databaseUnreachable,
    );
  }
}

/** Runs `work` in one transaction, rolled back when it throws; all of it again where others got in its way. */
export function transaction<T>(pool: pg.Pool, work: (client: Queryable) => Promise<T>): Promise<T> {
  return retryConflicts(() => transactOnce(pool, work));
}

async function transactOnce<T>(pool: pg.Pool, work: (client: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    failure = error as Error;
    await client.query("rollback").then(
      () => (failure = undefined),
      () => {},
    );
    throw error;
  } finally {
    // A connection that could not roll back is not used again.
    client.release(failure);
  }
}

const folder = path.join(import.meta.dirname, "..", "migrations");

/** Every .sql file of the package's folder `migrations`, in the order of their names. */
const provider: MigrationProvider = {
  async getMigrations() {
    const files = (await fs.readdir(folder)).filter((file) => file.endsWith(".sql"));
    const load = async (file: string) => {
      const text = await fs.readFile(path.join(folder, file), "utf8");
      return [
        file.slice(0, -".sql".length),
        { up: async (db: Kysely<unknown>) => void (await sql.raw(text).execute(db)) },
      ];
    };
    return Object.fromEntries(await Promise.all(files.map(load)));
  },
};

const migratorOf = (pool: pg.Pool) =>
  new Migrator({ db: new Kysely({ dialect: new PostgresDialect({ pool }) }), provider });

/**
 * Brings the tables up to date, each migration once also when several processes try.
 *
 * @returns the names of the migrations that ran now
 */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const { error, results = [] } = await migratorOf(pool).migrateToLatest();
  if (error) {
    const failed = results.find((result) => result.status === "Error")?.migrationName;
    const reason = error instanceof Error ? error.message : "unknown";
    throw new OperatorError(`Migration ${failed ?? ""} failed, and nothing was changed: ${reason}`);
  }
  return results.map((result) => result.migrationName);
}

/** @throws {OperatorError} when the tables are not what this version works with */
export async function checkMigrated(pool: pg.Pool): Promise<void> {
  const pending = (await migratorOf(pool).getMigrations()).filter((migration) => !migration.executedAt);
  if (pending.length > 0) {
    throw new OperatorError(
      "The database is not up to date. Run `giftcard-service migrate` on it.",
      exitCodes.notMigrated,
    );
  }
}
