import { recognizeCopies } from "@giftcard-pay/client/contract";

/**
 * A numbered migration of the tables. Its SQL never changes after its release, because a database runs it only once. Later
 * changes are migrations of their own.
 */
export interface TableMigration {
  /** 1, 2, 3, and so on. */
  readonly number: number;
  /** The release that introduced it. */
  readonly release: string;
  /** Its SQL for the journal's tables. */
  readonly journal: string;
  /** Its SQL for purchases, which a shop on Medusa doesn't have. */
  readonly purchases: string;
}

/** The parts of a migration's SQL that aren't the same in each database. */
export interface Dialect {
  /** A time. */
  readonly time: string;
  /** A time that is never null. On PostgreSQL, its default is the present. */
  readonly filledTime: string;
  /** An amount that may be larger than a charge. */
  readonly cents: string;
  /** The key of rows that are numbered by the database. */
  readonly identity: string;
  /** Ends the definition of a table. */
  readonly options: string;
  /** Indexes that only a database for many processes needs. */
  readonly serverOnly: (indexes: string) => string;
}

/** Why the store can't be used, and what to do. */
const faults = {
  not_migrated: "are missing, or older than @giftcard-pay/checkout: run store.migrate() before the shop starts.",
  too_new: "were made by a newer release: upgrade @giftcard-pay/checkout.",
  connection_lost:
    "can't be reached: the database closes the connections. Repeat the call later; it continues from what was stored.",
} as const;

/** The error if the store can't be used. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /**
   * - `not_migrated`: the tables are missing, or older than this package
   * - `too_new`: a newer release made them
   * - `connection_lost`: the connection to the database was lost, and again in each retry. Repeat the call later
   */
  readonly code: "not_migrated" | "too_new" | "connection_lost";

  /** @param where the schema or the file, for the message */
  constructor(code: StoreError["code"], where: string, options?: ErrorOptions) {
    super(`The gift card tables in ${where} ${faults[code]}`, options);
    this.code = code;
  }
}

recognizeCopies(StoreError, "@giftcard-pay/checkout: StoreError");

/** Returns the number of the last migration: the version of the tables that this package needs. */
export const newestOf = (migrations: readonly TableMigration[]): number => migrations.at(-1)?.number ?? 0;
