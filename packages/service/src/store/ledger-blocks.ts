import type { Queryable } from "../database/database.js";
import type { LedgerFault, RowRange } from "./ledger-rules.js";

/** The number of rows that share a digest. */
const BLOCK = 20_000;

/** Stores the digests of rows that were verified. Each digest covers the one before it. */
export async function storeBlocks(db: Queryable, { first, through }: RowRange): Promise<void> {
  for (let from = first; from <= through; from += BLOCK) {
    await db.query(
      `insert into checked_blocks (first, through, digest)
         values ($1, $2, ledger_digest($1, $2, (select digest from checked_blocks order by through desc limit 1)))`,
      [from, Math.min(from + BLOCK - 1, through)],
    );
  }
}

/** Reads verified rows again, and returns the blocks whose rows have changed since. By default, all of them. */
export async function changedBlocks(
  db: Queryable,
  { after = 0, limit }: { after?: number; limit?: number } = {},
): Promise<LedgerFault[]> {
  const { rows } = await db.query<{ through: number }>(
    // Materialized: otherwise PostgreSQL computes the digest of every block.
    `with chosen as materialized (
       select first, through, digest,
         (select digest from checked_blocks b where b.through < c.through order by b.through desc limit 1) as before
         from checked_blocks c where through > $1 order by through limit $2)
     select through from chosen where digest <> ledger_digest(first, through, before) order by through`,
    [after, limit ?? null],
  );
  const none = { card: null, last_four: null, expected: null, found: null };
  return rows.map(({ through }) => ({ ...none, rule: "verified_is_unchanged", ledger_row: through }));
}
