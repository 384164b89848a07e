import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import { type Sql, storable } from "../context.js";

const text = (max: number) => storable.trim().max(max);
const words = z.array(text(500)).max(200);

const MAX_DATES = 400;

export const detailsSchema = z.strictObject({
  organiser: text(255).optional(),
  timeZone: text(100).optional(),
  venue: z
    .strictObject({
      name: text(255).optional(),
      streetName: text(255).optional(),
      streetNumber: text(50).optional(),
      zipCode: text(50).optional(),
      city: text(255).optional(),
      country: text(255).optional(),
    })
    .optional(),
  genres: words.optional(),
  lineup: words.optional(),
  minimumAgeYears: z.number().int().min(0).max(99).optional(),
  videoUrl: text(2048).optional(),
  eventLink: text(2048).optional(),
  providerId: z.number().int().min(1).optional(),
  dates: z
    .array(
      z.strictObject({
        id: z
          .string()
          .regex(/^[1-9]\d{0,8}$/)
          .optional(),
        optionValue: text(255).optional(),
        start: text(40),
        end: text(40).optional(),
      }),
    )
    .max(MAX_DATES),
});

/**
 * A show's details as the form on a product's page sends them. A new date has no id. Only the shape of values is checked:
 * incomplete details can be saved, and the show's events name what is missing.
 */
export type DetailsInput = z.output<typeof detailsSchema>;

/** One date of a show, with its permanent id. */
export type ShowDate = DetailsInput["dates"][number] & { readonly id: string };

/** A show's details as they are stored. */
export type ShowDetails = Omit<DetailsInput, "dates"> & { readonly dates: readonly ShowDate[] };

/** Returns an event's key: the ids of its product and its date. */
export const keyOf = (productId: string, dateId: string): string => `${productId}:${dateId}`;

/** Splits an event's key. */
export function partsOf(key: string): { readonly productId: string; readonly dateId: string } {
  const at = key.lastIndexOf(":");
  return { productId: key.slice(0, at), dateId: key.slice(at + 1) };
}

/**
 * Gives each new date the next unused number as its id. An id of a date that was public is never used again.
 *
 * @param usedIds ids of the dates that the product has or had
 * @throws {MedusaError} if a date has an id that isn't among those, or two dates have the same
 */
export function withIds({ dates, ...details }: DetailsInput, usedIds: readonly string[]): ShowDetails {
  const given = dates.flatMap(({ id }) => id ?? []);
  if (new Set(given).size < given.length || given.some((id) => !usedIds.includes(id)))
    throw new MedusaError(MedusaError.Types.INVALID_DATA, "A date has an unknown id. Send new dates without an id.");
  let last = Math.max(0, ...usedIds.map(Number));
  return { ...details, dates: dates.map((date) => ({ ...date, id: date.id ?? String(++last) })) };
}

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
  return sql(
    `select product_id as "productId", details, version, updated_by as "updatedBy", updated_at as "updatedAt"
     from giftcard_show where product_id > $1 and ($3::text[] is null or product_id = any($3))
     order by product_id limit $2`,
    [after, limit, only ?? null],
  );
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
