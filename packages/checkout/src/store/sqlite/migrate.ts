import { migrationsOf, newestOf, StoreError, type TableMigration } from "../migrations.js";
import type { Sqlite } from "./database.js";

/** All migrations. Times are in milliseconds since 1970. */
export const sqliteMigrations: readonly TableMigration[] = migrationsOf({
  time: "integer",
  filledTime: "integer not null",
  cents: "integer",
  identity: "integer primary key",
  options: " strict",
  isServer: false,
});

/**
 * Runs all pending migrations in one transaction. The version is stored in a table, because a shop may have tables of its
 * own in the file, and use `user_version` for those.
 *
 * @throws {StoreError} too_new
 */
export function migrateSqlite(
  { exec, query, alone }: Sqlite,
  migrations: readonly TableMigration[] = sqliteMigrations,
): void {
  alone(() => {
    exec(`create table if not exists giftcard_migration (
      number integer primary key,
      release text not null,
      applied_at integer not null
    ) strict`);
    const version = Number(query("select max(number) as version from giftcard_migration")[0]?.version ?? 0);
    if (version > newestOf(migrations)) throw new StoreError("too_new", "this file");
    for (const { number, release, journal, purchases } of migrations.filter((step) => step.number > version)) {
      exec(journal);
      exec(purchases);
      query("insert into giftcard_migration (number, release, applied_at) values ($1, $2, now())", number, release);
    }
  });
}
