import type { Sql } from "../context.js";
import type { ShowDetails } from "./show-details.js";

/** A product that is a show. */
export interface Show {
  readonly productId: string;
  readonly details: ShowDetails;
  /** Increases with each change. */
  readonly version: number;
  readonly updatedBy: string;
  readonly updatedAt: Date;
}

/** Reads shows in the order of their products' ids, after `after`; or those of the products in `only`. */
export async function readShows(
  sql: Sql,
  { after, limit, only }: { after: string; limit: number; only?: readonly string[] | undefined },
): Promise<Show[]> {
  const rows = await sql(
    `select * from giftcard_show where product_id > $1 and ($3::text[] is null or product_id = any($3))
     order by product_id limit $2`,
    [after, limit, only ?? null],
  );
  return rows.map((row) => ({
    productId: String(row.product_id),
    details: row.details as ShowDetails,
    version: Number(row.version),
    updatedBy: String(row.updated_by),
    updatedAt: new Date(row.updated_at as string),
  }));
}

/** Reads a product's show; null if the product isn't a show. */
export const readShow = async (sql: Sql, productId: string): Promise<Show | null> =>
  (await readShows(sql, { after: "", limit: 1, only: [productId] }))[0] ?? null;

/**
 * Writes a show as a person has edited it.
 *
 * @param show.version the version that was edited; 0 for a product that wasn't a show
 * @returns false if somebody else has changed it since
 */
export async function writeShow(
  sql: Sql,
  { productId, details, version, updatedBy }: Omit<Show, "updatedAt">,
): Promise<boolean> {
  const rows = await sql(
    `insert into giftcard_show as stored (product_id, details, updated_by)
     select $1, $2::jsonb, $4 where $3 = 0 or exists (select 1 from giftcard_show where product_id = $1)
     on conflict (product_id) do update set details = excluded.details, version = stored.version + 1,
       updated_by = excluded.updated_by, updated_at = now() where stored.version = $3
     returning 1`,
    [productId, JSON.stringify(details), version, updatedBy],
  );
  return rows.length === 1;
}
