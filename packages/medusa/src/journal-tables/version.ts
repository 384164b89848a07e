import type { Sql } from "@giftcard-pay/checkout/plugin";

/** The number of the newest migration: the version of the tables with which this package works. */
export const NEWEST_MIGRATION = 1;

/** The tables aren't those with which this package works. */
export class TablesError extends Error {
  override readonly name = "TablesError";
  /** `not_migrated`: they are missing, or older. `too_new`: a newer release made them. */
  readonly code: "not_migrated" | "too_new";

  constructor(code: "not_migrated" | "too_new") {
    super(
      code === "too_new"
        ? "The database's gift card tables were made by a newer release: upgrade @giftcard-pay/medusa."
        : "The database has no gift card tables, or older ones. Before the plugin's start run: npx medusa db:migrate.",
    );
    this.code = code;
  }
}

/** PostgreSQL's code of a table that doesn't exist. */
const UNDEFINED_TABLE = "42P01";

/** @throws {TablesError} where the tables aren't those with which this package works */
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
