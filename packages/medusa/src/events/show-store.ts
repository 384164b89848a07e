import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { ShowDetails } from "./show-details.js";

/** A product that is a show. */
export interface Show {
  readonly productId: string;
  readonly details: ShowDetails;
  /** Counts its changes. */
  readonly version: number;
  readonly updatedBy: string;
  readonly updatedAt: Date;
}

/** Shows in the order of their products' ids, behind `after`; or those of these products. */
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

/** A product's show; null where it is none. */
export const readShow = async (sql: Sql, productId: string): Promise<Show | null> =>
  (await readShows(sql, { after: "", limit: 1, only: [productId] }))[0] ?? null;

/**
 * Writes a show as a person has changed it.
 *
 * @param version of what was changed; 0 where the product was no show
 * @returns false where somebody else has changed it meanwhile
 */
export async function writeShow(
  sql: Sql,
  { productId, details, version, updatedBy }: Omit<Show, "updatedAt">,
): Promise<boolean> {
  const rows = await sql(
    `insert into giftcard_show as known (product_id, details, updated_by)
     select $1, $2::jsonb, $4 where $3 = 0 or exists (select 1 from giftcard_show where product_id = $1)
     on conflict (product_id) do update set details = excluded.details, version = known.version + 1,
       updated_by = excluded.updated_by, updated_at = now() where known.version = $3
     returning 1`,
    [productId, JSON.stringify(details), version, updatedBy],
  );
  return rows.length === 1;
}
