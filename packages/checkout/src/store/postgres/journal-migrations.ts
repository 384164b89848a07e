import { postgresMigrations } from "./migrate.js";

/** A numbered migration of the journal's tables, which never changes after its release. */
export interface JournalMigration {
  readonly number: number;
  /** The release that introduced it. */
  readonly release: string;
  /** PostgreSQL statements, separated by semicolons. They run once, after the previous migration. */
  readonly sql: string;
}

/** The migrations of the journal's tables, for a plugin that runs each by a migration of its shop system. */
export const journalMigrations: readonly JournalMigration[] = postgresMigrations.map(
  ({ number, release, journal }) => ({ number, release, sql: journal }),
);
