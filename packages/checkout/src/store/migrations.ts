/**
 * One numbered step in the life of the tables. Its SQL is frozen once it is released: whoever has run it never runs it
 * again. What comes later is a step of its own.
 */
export interface TableMigration {
  /** 1, 2, 3 and so on. */
  readonly number: number;
  /** The release that brings it. */
  readonly release: string;
  /** What it does to the journal's tables. */
  readonly journal: string;
  /** What it does to the purchases, which a shop on Medusa doesn't have. */
  readonly purchases: string;
}

/** The store's tables are of another release than this package. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /** `not_migrated`: they are missing, or older. `too_new`: a newer release made them. */
  readonly code: "not_migrated" | "too_new";

  /** @param where the schema or the file, as it is shown */
  constructor(code: "not_migrated" | "too_new", where: string) {
    super(
      code === "too_new"
        ? `The gift card tables in ${where} were made by a newer release: upgrade @giftcard-pay/checkout.`
        : `The gift card tables in ${where} are missing, or older than @giftcard-pay/checkout: run store.migrate() before the shop starts.`,
    );
    this.code = code;
  }
}

/** The number of the last step: the version of the tables with which this package works. */
export const newestOf = (migrations: readonly TableMigration[]): number => migrations.at(-1)?.number ?? 0;
