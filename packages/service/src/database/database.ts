import pg from "pg";
import { exitCodes, OperatorError } from "../operator-error.js";
import { readAddress } from "./address.js";
import { databaseAdvice } from "./advice.js";
import { retryConflicts } from "./conflicts.js";

/** Whole cents and ids fit a number. Dates and times stay strings, as on the wire. */
const AS_NUMBER = [pg.types.builtins.INT8];
const AS_TEXT = [pg.types.builtins.DATE, pg.types.builtins.TIME];
const types = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (AS_NUMBER.includes(oid)) return Number;
    if (AS_TEXT.includes(oid)) return String;
    return pg.types.getTypeParser(oid, format as "text");
  },
} as pg.CustomTypesConfig;

/** The pool, or one connection in a transaction. */
export type Queryable = Pick<pg.Pool, "query">;

/** PostgreSQL's error code for a server, or a session, that takes no writes. */
const READ_ONLY = "25006";

/** Connections of a process, far fewer than the 100 that PostgreSQL allows by default. */
const MAX_CONNECTIONS = 16;
/** A vanished machine is noticed this long after a connection's last packet, plus ten probes, a second apart. */
const KEEP_ALIVE_MS = 5000;
/** A connection to a former primary that still answers reads is replaced after this time, at the latest. */
const MAX_LIFETIME_SECONDS = 300;

/**
 * Opens a pool. It connects when it is first used.
 *
 * @param url as for libpq, with one host; `pgbouncer=true` for a PgBouncer in transaction mode
 * @param onError called when an idle connection breaks
 * @throws {OperatorError} if the address is invalid, or names a file that can't be read
 */
export function openPool(url: string, onError: (error: Error) => void, maxConnections = MAX_CONNECTIONS): pg.Pool {
  const { connectionString, ssl, isPooled } = readAddress(url);
  const pool = createPool({
    connectionString,
    ...(ssl !== undefined && { ssl }),
    Client: (isPooled ? PooledClient : ServiceClient) as unknown as new () => pg.Client,
    max: maxConnections,
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types,
    application_name: "giftcard-service",
    connectionTimeoutMillis: 5000,
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 15_000,
  });
  pool.on("error", onError);
  return pool;
}

/** Opens a pool of which a connection may break within a transaction. */
export function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  // An error event without a listener would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** `pg` lets a subclass add to the settings of a new connection, but does not declare it. */
const Client = pg.Client as unknown as new (
  config?: pg.ClientConfig,
) => pg.Client & { getStartupConf(): Record<string, string> };

/** A connection that gets dates and times in ISO format, whatever the settings of the server, the database and the role. */
class ServiceClient extends Client {
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), datestyle: "ISO" };
  }
}

/** A connection through a PgBouncer: statements have no names, and the settings are those of the role. */
class PooledClient extends ServiceClient {
  constructor(config: pg.ClientConfig) {
    super({ ...config, statement_timeout: undefined, idle_in_transaction_session_timeout: undefined });
  }

  // biome-ignore lint/suspicious/noExplicitAny: every signature that pg has
  override query(config: any, ...rest: any[]): any {
    const isNamed = typeof config?.name === "string";
    return (super.query as (...all: unknown[]) => unknown)(isNamed ? { ...config, name: undefined } : config, ...rest);
  }
}

/** Wraps a pool so that a single statement is retried after a conflict with others. */
export const retrying = (pool: pg.Pool): Queryable =>
  ({
    query: (config: pg.QueryConfig, values?: unknown[]) => retryConflicts(() => pool.query(config, values)),
  }) as Queryable;

/**
 * Checks that the database answers.
 *
 * @throws {OperatorError} that never shows the address, which holds the password
 */
export async function checkConnection(pool: pg.Pool): Promise<void> {
  try {
    await pool.query("select 1");
  } catch (error) {
    const { code } = error as { code?: string };
    const advice = code
      ? (databaseAdvice(code) ?? "Check its address, user and password.")
      : "It does not answer in time, or does not offer the TLS that the address asks for.";
    throw new OperatorError(
      `The database cannot be reached${code ? ` (${code})` : ""}. ${advice}`,
      exitCodes.databaseUnreachable,
    );
  }
}

/** Thrown to roll a transaction back although its work succeeded: {@link transaction} then returns `result`. */
export class Rollback<T> extends Error {
  constructor(readonly result: T) {
    super("The transaction is rolled back.");
  }
}

/** Runs `work` in one transaction, rolled back if it throws. Retries all of it after a conflict with others. */
export async function transaction<T>(pool: pg.Pool, work: (client: Queryable) => Promise<T>): Promise<T> {
  try {
    return await retryConflicts(() => transactOnce(pool, work));
  } catch (error) {
    if (error instanceof Rollback) return error.result;
    throw error;
  }
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
    const isReadOnly = (error as { code?: string }).code === READ_ONLY;
    await client.query("rollback").then(
      () => (failure = isReadOnly ? failure : undefined),
      () => {},
    );
    throw error;
  } finally {
    // Closes a connection that could not roll back, or that leads to a former primary.
    client.release(failure);
  }
}

/** Reads one snapshot of the database, without a time limit and without locks. */
export function readSnapshot<T>(pool: pg.Pool, work: (db: Queryable) => Promise<T>): Promise<T> {
  return transaction(pool, async (db) => {
    await db.query("set transaction isolation level repeatable read, read only");
    await db.query("set local statement_timeout = 0");
    return work(db);
  });
}

const PAGE_ROWS = 2000;

/**
 * Reads a statement's rows page by page from one snapshot of the database, without limits of number or time.
 *
 * @param onColumns called first, with the names of the columns
 */
export function readPages<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  { text, values }: { text: string; values: unknown[] },
  onPage: (rows: Row[]) => Promise<void>,
  onColumns: (columns: string[]) => Promise<void> | undefined = () => undefined,
): Promise<void> {
  // Never retried: the reader has already used the first pages.
  return transactOnce(pool, async (db) => {
    await db.query("set local statement_timeout = 0");
    await db.query("set local idle_in_transaction_session_timeout = 0");
    await db.query(`declare pages no scroll cursor for ${text}`, values);
    for (let isFirst = true; ; isFirst = false) {
      const { rows, fields } = await db.query<Row>(`fetch ${PAGE_ROWS} from pages`);
      if (isFirst) await onColumns(fields.map(({ name }) => name));
      if (rows.length > 0) await onPage(rows);
      if (rows.length < PAGE_ROWS) return;
    }
  });
}
