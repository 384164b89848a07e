import type { Sql } from "@giftcard-pay/checkout/plugin";

/** The number of the newest migration: the version of the tables that this package works with. */
export const NEWEST_MIGRATION = 1;

/** The tables have a version that this package doesn't work with. */
export class TablesError extends Error {
  override readonly name = "TablesError";
  /** `not_migrated`: they are missing, or older. `too_new`: a newer release created them. */
  readonly code: "not_migrated" | "too_new";

  constructor(code: "not_migrated" | "too_new") {
    super(
      code === "too_new"
        ? "The database's gift card tables were made by a newer release: upgrade @giftcard-pay/medusa."
        : "The database has no gift card tables, or older ones. Run this before you start Medusa: npx medusa db:migrate.",
    );
    this.code = code;
  }
}

/** PostgreSQL's code for a table that doesn't exist. */
const UNDEFINED_TABLE = "42P01";

/** Checks the version of the tables. @throws {TablesError} if this package doesn't work with it */
export async function checkVersion(sql: Sql): Promise<void> {
  const rows = await sql("select max(number) as version from giftcard_medusa_migration", []).catch(
    (error: { code?: string }) => {
      if (error.code === UNDEFINED_TABLE) return [];
      throw error;
    },
  );
  const version = Number(rows[0]?.version ?? 0);
  if (version > NEWEST_MIGRATION) throw new TablesError("too_new");
  if (version < NEWEST_MIGRATION) throw new TablesError("not_migrated");
}
