import fs from "node:fs/promises";
import path from "node:path";
import type pg from "pg";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Queryable, transaction } from "./database.js";

const folder = path.join(import.meta.dirname, "../../migrations");
/** Any number, as long as it stays the same: who migrates holds this lock. */
const LOCK = 7_162_301;
const UNDEFINED_TABLE = "42P01";

/** A file of the folder `migrations`; its name begins with its version. */
interface Migration {
  readonly version: number;
  readonly name: string;
}

/** All that this program knows, oldest first. */
async function listMigrations(): Promise<Migration[]> {
  const files = (await fs.readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return files.map((file) => ({ version: Number.parseInt(file, 10), name: path.basename(file, ".sql") }));
}

/**
 * Brings the tables up to date, each migration once also when several processes try, and all or none of them.
 *
 * @returns the names of the migrations that ran now
 * @throws {OperatorError} when one fails, or a newer or another program has migrated the database
 */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const migrations = await listMigrations();
  return transaction(pool, async (db) => {
    // Whatever the database's default: who has waited for the lock sees what the other has done.
    await db.query("set transaction isolation level read committed");
    // However long the tables are, and however long another process takes with them.
    await db.query("set local statement_timeout = 0");
    await db.query("select pg_advisory_xact_lock($1)", [LOCK]);
    await db.query(
      `create table if not exists migrations (
         version integer primary key, name text not null, applied_at timestamptz not null default now())`,
    );
    const done = await readDone(db);
    refuseUnknown(done, migrations);
    const pending = migrations.filter(({ version }) => version > newestOf(done));
    for (const migration of pending) await run(db, migration);
    return pending.map(({ name }) => name);
  });
}

async function run(db: Queryable, { version, name }: Migration): Promise<void> {
  const text = await fs.readFile(path.join(folder, `${name}.sql`), "utf8");
  try {
    await db.query(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown";
    throw new OperatorError(`Migration ${name} failed, and nothing was changed: ${reason}`);
  }
  await db.query("insert into migrations (version, name) values ($1, $2)", [version, name]);
}

/** @throws {OperatorError} when the tables are not what this program works with: older, newer, or of another program */
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

/** How the migrations that ran differ from those that this program knows. */
interface MigrationComparison {
  /** Have not run yet. */
  readonly missing: readonly string[];
  /** Ran under the number of another one. */
  readonly differing: readonly string[];
  /** Ran after all that this program knows: while hosts are updated one after the other, the old ones go on. */
  readonly newer: readonly string[];
}

/** Compares the migrations that ran with those that this program knows. */
export async function compareMigrations(db: Queryable): Promise<MigrationComparison> {
  return compare(await readDone(db), await listMigrations());
}

function compare(done: readonly Migration[], known: readonly Migration[]): MigrationComparison {
  const nameOf = (all: readonly Migration[], version: number) =>
    all.find((migration) => migration.version === version)?.name;
  const names = (all: readonly Migration[]) => all.map(({ name }) => name);
  const newest = newestOf(known);
  return {
    missing: names(known.filter(({ version }) => nameOf(done, version) === undefined)),
    differing: names(
      done.filter(({ version, name }) => version <= newest && nameOf(known, version) !== name),
    ),
    newer: names(done.filter(({ version }) => version > newest)),
  };
}

/** The migrations that ran, oldest first; none where there are no tables yet. */
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
        "Give the address of this service's own database.",
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
