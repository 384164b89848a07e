import { postgresMigrations } from "./migrate.js";

/** One numbered, frozen step in the life of the journal's tables. */
export interface JournalMigration {
  readonly number: number;
  /** The release that brings it. */
  readonly release: string;
  /** Statements of PostgreSQL, with semicolons between them. They run once, on what the step before has made. */
  readonly sql: string;
}

/** The journal's tables, for a plugin that makes them by its shop system's own migrations: one of those for each. */
export const journalMigrations: readonly JournalMigration[] = postgresMigrations.map(
  ({ number, release, journal }) => ({ number, release, sql: journal }),
);
