import fs from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Queryable, transaction } from "./database.js";

const FOLDER = path.join(import.meta.dirname, "../../migrations");
/** The advisory lock of a running migration: an arbitrary number that must not change. */
const LOCK = 7_162_301;
const UNDEFINED_TABLE = "42P01";
const LOCK_NOT_AVAILABLE = "55P03";
/** While a migration waits for a table, all calls wait behind it. */
const LOCK_TIMEOUT = "1s";
const LOCK_TRIES = 30;
/** Calls go on between two tries. */
const RETRY_MS = 1000;

/** A file of the folder `migrations`. Its name begins with its version. */
interface Migration {
  readonly version: number;
  readonly name: string;
}

/** Lists the migrations of this program, oldest first. */
async function listMigrations(folder = FOLDER): Promise<Migration[]> {
  const files = (await fs.readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return files.map((file) => ({ version: Number.parseInt(file, 10), name: path.basename(file, ".sql") }));
}

/**
 * Brings the tables up to date, in one transaction. Several processes may call it at once: each migration runs once. If a table
 * stays in use for a second, it gives up its locks and tries again, so that the service's calls never wait for long.
 *
 * @param folder the migrations. Default: those of this program
 * @returns the names of the migrations that ran now
 * @throws {OperatorError} if a migration fails, or a newer or another program has migrated the database
 */
export async function migrate(pool: pg.Pool, folder = FOLDER): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await migrateOnce(pool, folder);
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (tries === LOCK_TRIES) {
        throw new OperatorError(
          "The tables stayed in use, and nothing was changed. Migrate again when no import and no other long transaction runs.",
        );
      }
    }
    await sleep(RETRY_MS);
  }
}

async function migrateOnce(pool: pg.Pool, folder: string): Promise<string[]> {
  const migrations = await listMigrations(folder);
  return transaction(pool, async (db) => {
    // At a higher level, a process that waited for the lock would not see the other's migrations.
    await db.query("set transaction isolation level read committed");
    // Large tables, and waiting for another process, may take long.
    await db.query("set local statement_timeout = 0");
    await db.query("select pg_advisory_xact_lock($1)", [LOCK]);
    // Only from here on: another process may migrate for long.
    await db.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await db.query(
      `create table if not exists migrations (
         version integer primary key, name text not null, applied_at timestamptz not null default now())`,
    );
    const done = await readDone(db);
    refuseUnknown(done, migrations);
    const pending = migrations.filter(({ version }) => version > newestOf(done));
    for (const migration of pending) await apply(db, folder, migration);
    return pending.map(({ name }) => name);
  });
}

async function apply(db: Queryable, folder: string, { version, name }: Migration): Promise<void> {
  const text = await fs.readFile(path.join(folder, `${name}.sql`), "utf8");
  try {
    await db.query(text);
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) throw error;
    const reason = error instanceof Error ? error.message : "unknown";
    throw new OperatorError(`Migration ${name} failed, and nothing was changed: ${reason}`);
  }
  await db.query("insert into migrations (version, name) values ($1, $2)", [version, name]);
}

/**
 * Checks that the tables are the ones that this program works with.
 *
 * @throws {OperatorError} if they are older, newer, or another program's
 */
export async function checkMigrated(db: Queryable): Promise<void> {
  const migrations = await listMigrations();
  const done = await readDone(db);
  refuseUnknown(done, migrations);
  if (compare(done, migrations).missing.length > 0) {
    throw new OperatorError(
      "The database is not up to date. Run `giftcard-service migrate` on it.",
      exitCodes.notMigrated,
    );
  }
}

/** Returns the differences between the migrations that ran and those of this program, by name. */
export const compareMigrations = async (db: Queryable) => compare(await readDone(db), await listMigrations());

function compare(done: readonly Migration[], known: readonly Migration[]) {
  const nameOf = (all: readonly Migration[], version: number) =>
    all.find((migration) => migration.version === version)?.name;
  const names = (all: readonly Migration[]) => all.map(({ name }) => name);
  const newest = newestOf(known);
  return {
    missing: names(known.filter(({ version }) => nameOf(done, version) === undefined)),
    /** They ran under the number of another one. */
    differing: names(done.filter(({ version, name }) => version <= newest && nameOf(known, version) !== name)),
    /** Of a newer program. While hosts are updated one by one, the old ones keep serving. */
    newer: names(done.filter(({ version }) => version > newest)),
  };
}

/** Reads the migrations that ran, oldest first; none if there are no tables yet. */
async function readDone(db: Queryable): Promise<Migration[]> {
  try {
    const { rows } = await db.query<Migration>("select version, name from migrations order by version");
    return rows;
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return [];
    throw error;
  }
}

function refuseUnknown(done: readonly Migration[], migrations: readonly Migration[]): void {
  const [differing] = compare(done, migrations).differing;
  if (differing !== undefined) {
    throw new OperatorError(
      `The database was migrated by another program: this one does not know the migration ${differing}. ` +
        "Use this service's own database.",
      exitCodes.notMigrated,
    );
  }
  const [found, known] = [newestOf(done), newestOf(migrations)];
  if (found <= known) return;
  throw new OperatorError(
    `The database is newer than this program: its tables have version ${found}, and this program knows ${known}. ` +
      "Run the program that migrated it, or a newer one.",
    exitCodes.notMigrated,
  );
}

const newestOf = (migrations: readonly Migration[]) => migrations.at(-1)?.version ?? 0;
