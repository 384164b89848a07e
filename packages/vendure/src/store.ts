import { createPostgresStore } from "@giftcard-pay/checkout";
import { createSqliteStore } from "@giftcard-pay/checkout/sqlite";
import type { CheckoutStore } from "@giftcard-pay/checkout/store";
import { Logger } from "@vendure/core";
import type { PoolConfig } from "pg";
import type { DataSourceOptions } from "typeorm";
import { LOGGER } from "./constants.js";

type PostgresOptions = Extract<DataSourceOptions, { type: "postgres" }>;

export interface OpenedStore extends CheckoutStore {
  /** Called when Vendure stops. */
  close?(): unknown;
}

/**
 * Opens the plugin's tables, and creates or migrates them. It has its own connections: Vendure calls the payment method
 * inside a transaction, and a charge must stay recorded if that is rolled back.
 *
 * @throws {Error} if Vendure's database is neither PostgreSQL nor a file of SQLite
 */
export async function openStore(database: DataSourceOptions): Promise<OpenedStore> {
  if (database.type === "postgres") return openPostgres(database);
  const file = sqliteFileOf(database);
  if (file) return createSqliteStore({ file });
  throw new Error(`GiftcardPlugin: Vendure's database (${database.type}) has to be PostgreSQL, or a file of SQLite.`);
}

/** Returns the path of the plugin's file next to Vendure's, or undefined if Vendure's database is not in a file. */
function sqliteFileOf(database: DataSourceOptions): string | undefined {
  const path =
    database.type === "better-sqlite3" || database.type === "sqlite"
      ? database.database
      : database.type === "sqljs"
        ? database.location
        : undefined;
  return typeof path === "string" && path !== "" && path !== ":memory:" ? `${path}.giftcards` : undefined;
}

async function openPostgres(database: PostgresOptions): Promise<OpenedStore> {
  const { default: pg } = await import("pg");
  const { url: connectionString, username: user, ...primary } = database.replication?.master ?? database;
  const { host, port, password, database: name, ssl } = primary;
  const given = { connectionString, host, port, user, password, database: name, ssl, ...database.extra };
  const pool = new pg.Pool(given as PoolConfig);
  // An idle connection failed. The pool opens another one.
  pool.on("error", ({ message }) => Logger.error(message, LOGGER));
  const store = createPostgresStore({ pool, schema: "giftcard" });
  try {
    await store.migrate();
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { ...store, close: () => pool.end() };
}
