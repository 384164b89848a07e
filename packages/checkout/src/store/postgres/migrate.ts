import { migrationsOf, newestOf, StoreError, type TableMigration } from "../migrations.js";

/** The part of a `pg` pool that the store needs. */
export interface PgPool {
  /** Runs a statement with the parameters `$1`, `$2`, and so on. */
  query(text: string, params: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** All migrations. */
export const postgresMigrations: readonly TableMigration[] = migrationsOf({
  time: "timestamptz",
  filledTime: "timestamptz not null default now()",
  cents: "bigint",
  identity: "bigint generated always as identity primary key",
  options: "",
  isServer: true,
});

const LOCK = 5_000_2498;

/** Whether PostgreSQL reports a missing table or schema. */
const isMissing = (error: unknown) => ["42P01", "3F000"].includes(String((error as { code?: unknown } | null)?.code));

async function readVersion(pool: PgPool, schema: string): Promise<number> {
  const read = pool.query(`select max(number) as version from "${schema}".giftcard_migration`, []);
  const { rows } = await read.catch((error: unknown) => {
    if (isMissing(error)) return { rows: [] };
    throw error;
  });
  return Number(rows[0]?.version ?? 0);
}

/**
 * Checks that the tables are of the version that this package needs.
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
 * Runs all pending migrations in one transaction. A concurrent call waits, and then finds nothing to do.
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
  // A pool may use another connection for each statement, so all of it is one statement, and one transaction.
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
  // Read last: another process may have migrated while this one waited. Above READ COMMITTED, this transaction doesn't see
  // those changes, and fails although the tables are up to date.
  const version = await readVersion(pool, schema);
  if (version > newestOf(migrations)) throw new StoreError("too_new", `the schema "${schema}"`);
  if (failure && version < newestOf(migrations)) throw failure.error;
}
