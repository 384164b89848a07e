import { recognizeCopies } from "@giftcard-pay/client/contract";
import { migration0001 } from "./migrations/0001.js";

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

/** The words of a migration that differ by database. In its SQL, they are in braces. */
export interface Words {
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
  /** Whether to create the indexes in `{server …}`, which only a database for many processes needs. */
  readonly isServer: boolean;
}

/** Returns the migrations of a database. */
export function migrationsOf(words: Words): TableMigration[] {
  const fill = (text: string) =>
    text
      .replace(/\{server([^}]*)\}/g, words.isServer ? "$1" : "")
      .replace(/\{(\w+)\}/g, (_, name: Exclude<keyof Words, "isServer">) => words[name]);
  return [migration0001].map((one) => ({ ...one, journal: fill(one.journal), purchases: fill(one.purchases) }));
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
