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

/** The error if the store's tables are of another release than this package. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /** `not_migrated`: they are missing, or older. `too_new`: a newer release made them. */
  readonly code: "not_migrated" | "too_new";

  /** @param where the schema or the file, for the message */
  constructor(code: "not_migrated" | "too_new", where: string) {
    super(
      code === "too_new"
        ? `The gift card tables in ${where} were made by a newer release: upgrade @giftcard-pay/checkout.`
        : `The gift card tables in ${where} are missing, or older than @giftcard-pay/checkout: run store.migrate() before the shop starts.`,
    );
    this.code = code;
  }
}

/** Returns the number of the last migration: the version of the tables that this package needs. */
export const newestOf = (migrations: readonly TableMigration[]): number => migrations.at(-1)?.number ?? 0;
