import type { Sql } from "../context.js";

/** A product, as far as its events need it. */
export interface ShowProduct {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly handle: string;
  /** Whether it is published, and not deleted. */
  readonly isPublished: boolean;
  /** URLs of its pictures, the thumbnail first. */
  readonly pictureUrls: readonly string[];
  /** The lowest price of its variants, by their value of the date option, or "" without one. Null for an unknown price. */
  readonly lowestCents: Readonly<Record<string, number | null>>;
}

/** The lowest price in euro of the variant `v` for everybody: without price lists, rules and minimum quantities. */
const PRICE = `select min(round(price.amount * 100)) from product_variant_price_set link
  join price on price.price_set_id = link.price_set_id and price.deleted_at is null
  where link.variant_id = v.id and link.deleted_at is null and price.currency_code = 'eur' and price.price_list_id is null
    and coalesce(price.rules_count, 0) = 0 and coalesce(price.min_quantity, 0) <= 1`;

/** The value that the variant `v` has for the date option. */
const DATE = `select value.value from product_variant_option chosen
  join product_option_value value on value.id = chosen.option_value_id and value.deleted_at is null
  join product_option option on option.id = value.option_id and lower(option.title) = lower($2)
  where chosen.variant_id = v.id limit 1`;

/**
 * Reads products, including deleted ones that Medusa still has.
 *
 * Reads product, image, product_variant, product_variant_option, product_option_value, product_option,
 * product_variant_price_set and price.
 *
 * @param dateOption the title of the option whose values are dates
 */
export async function readShowProducts(sql: Sql, ids: readonly string[], dateOption: string): Promise<ShowProduct[]> {
  const rows = await sql<Omit<ShowProduct, "pictureUrls"> & { thumbnail: string | null; pictures: string[] }>(
    `select p.id, p.title, p.description, p.handle, p.thumbnail,
       p.status = 'published' and p.deleted_at is null as "isPublished",
       (select coalesce(json_agg(image.url order by image.rank, image.id), '[]') from image
         where image.product_id = p.id and image.deleted_at is null) as pictures,
       (select coalesce(json_object_agg(dated.value, dated.cents), '{}') from (
         select coalesce((${DATE}), '') as value, min((${PRICE})) as cents
         from product_variant v where v.product_id = p.id and v.deleted_at is null group by 1) dated) as "lowestCents"
     from product p where p.id = any($1::text[])`,
    [ids, dateOption],
  );
  return rows.map(({ thumbnail, pictures, ...product }) => ({
    ...product,
    pictureUrls: [...new Set(thumbnail === null ? pictures : [thumbnail, ...pictures])],
  }));
}

/**
 * Returns the product of a variant, even if the variant is deleted.
 *
 * Reads product_variant.
 */
export async function productOfVariant(sql: Sql, variantId: string): Promise<string | null> {
  const [row] = await sql<{ id: string }>("select product_id as id from product_variant where id = $1", [variantId]);
  return row?.id ?? null;
}

/**
 * Finds products that aren't published (any more), and have published events.
 *
 * Reads product.
 */
export async function findHidden(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }>(
    `select distinct e.product_id as id from giftcard_event e left join product p on p.id = e.product_id
     where e.state = 'published' and (p.id is null or p.deleted_at is not null or p.status <> 'published')`,
    [],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the id of the published product with this id or handle.
 *
 * Reads product.
 */
export async function findPublishedProduct(sql: Sql, idOrHandle: string): Promise<string | null> {
  const [row] = await sql<{ id: string }>(
    `select id from product where (id = $1 or handle = $1) and status = 'published' and deleted_at is null
     order by id = $1 desc limit 1`,
    [idOrHandle],
  );
  return row?.id ?? null;
}
