import { createPostgresStore } from "@giftcard-pay/checkout";
import { createSqliteStore } from "@giftcard-pay/checkout/sqlite";
import { Logger } from "@vendure/core";
import type { DataSourceOptions } from "typeorm";
import { LOGGER } from "./constants.js";
import type { OpenedStore, Settings } from "./options.js";

type PostgresOptions = Extract<DataSourceOptions, { type: "postgres" }>;

/**
 * Opens the plugin's tables, and creates or migrates them. It has its own connections: Vendure calls the payment method
 * inside a transaction, and a charge must stay recorded if that is rolled back.
 *
 * @throws {Error} naming the option to set if Vendure's database is neither PostgreSQL nor a file of SQLite
 */
export async function openStore(settings: Settings, database: DataSourceOptions): Promise<OpenedStore> {
  if (settings.store) return settings.store();
  if (database.type === "postgres") return openPostgres(database, settings.schema);
  const file = settings.sqliteFile ?? sqliteFileOf(database);
  if (file) return createSqliteStore({ file });
  throw new Error(
    `GiftcardPlugin: there is no store for Vendure's database (${database.type}). Set the option sqliteFile or store.`,
  );
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

async function openPostgres(database: PostgresOptions, schema: string): Promise<OpenedStore> {
  const { default: pg } = await import("pg");
  const { url, host, port, username, password, database: name, ssl, replication, extra } = database;
  const primary = replication?.master ?? { url, host, port, username, password, database: name, ssl };
  const pool = new pg.Pool({
    ...extra,
    ...(primary.url !== undefined && { connectionString: primary.url }),
    ...(primary.host !== undefined && { host: primary.host }),
    ...(primary.port !== undefined && { port: primary.port }),
    ...(primary.username !== undefined && { user: primary.username }),
    ...(primary.password !== undefined && { password: primary.password as string }),
    ...(primary.database !== undefined && { database: primary.database }),
    ...(primary.ssl !== undefined && { ssl: primary.ssl as boolean }),
  });
  // An idle connection failed. The pool opens another one.
  pool.on("error", ({ message }) => Logger.error(message, LOGGER));
  const store = createPostgresStore({ pool, schema });
  try {
    await store.migrate();
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { ...store, close: () => pool.end() };
}
