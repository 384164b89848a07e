import { newestOf, StoreError, type TableMigration } from "../migrations.js";
import { migration0001 } from "./migrations/0001.js";

/** What is needed of a `pg` pool. */
export interface PgPool {
  /** Runs one statement, with `$1` and so on for the parameters. */
  query(text: string, params: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** Every step from nothing to today's tables. */
export const postgresMigrations: readonly TableMigration[] = [migration0001];

const LOCK = 5_000_2498;

/** PostgreSQL's codes of a table and a schema that don't exist. */
const isMissing = (error: unknown) =>
  ["42P01", "3F000"].includes(String((error as { code?: unknown } | null)?.code));

async function readVersion(pool: PgPool, schema: string): Promise<number> {
  const read = pool.query(`select max(number) as version from "${schema}".giftcard_migration`, []);
  const { rows } = await read.catch((error: unknown) => {
    if (isMissing(error)) return { rows: [] };
    throw error;
  });
  return Number(rows[0]?.version ?? 0);
}

/**
 * Whether the tables are those with which this package works.
 *
 * @throws {StoreError} not_migrated, or too_new
 */
export async function checkVersion(
  pool: PgPool,
  schema: string,
  migrations: readonly TableMigration[] = postgresMigrations,
): Promise<void> {
  const version = await readVersion(pool, schema);
  if (version > newestOf(migrations)) throw new StoreError("too_new", `the schema "${schema}"`);
  if (version < newestOf(migrations)) throw new StoreError("not_migrated", `the schema "${schema}"`);
}

/**
 * Makes the tables, or brings them up to date: every step that they lack, in order, in one transaction. Whoever comes at
 * the same moment waits, and finds nothing left to do.
 *
 * @throws {StoreError} too_new
 */
export async function migratePostgres(
  pool: PgPool,
  schema: string,
  migrations: readonly TableMigration[] = postgresMigrations,
): Promise<void> {
  const steps = migrations.map(
    ({ number, release, journal, purchases }) => `
      if not exists (select from giftcard_migration where number = ${number}) then
        execute $frozen$${journal}${purchases}$frozen$;
        insert into giftcard_migration (number, release) values (${number}, '${release}');
      end if;`,
  );
  // A pool gives no connection of one's own, so all of it is one statement, which is one transaction.
  const making = pool.query(
    `do $migrate$ begin
      perform pg_advisory_xact_lock(${LOCK});
      if to_regnamespace('"${schema}"') is null then create schema "${schema}"; end if;
      perform set_config('search_path', '"${schema}"', true);
      if to_regclass('giftcard_migration') is null then
        create table giftcard_migration (
          number integer primary key,
          release text not null,
          applied_at timestamptz not null default now()
        );
      end if;
      ${steps.join("")}
    end $migrate$`,
    [],
  );
  const failure = await making.then(
    () => null,
    (error: unknown) => ({ error }),
  );
  // Looked at last, since others may have worked while this one waited. Above READ COMMITTED it doesn't see what they
  // did, and fails on it.
  const version = await readVersion(pool, schema);
  if (version > newestOf(migrations)) throw new StoreError("too_new", `the schema "${schema}"`);
  if (failure && version < newestOf(migrations)) throw failure.error;
}
