import type { Sql } from "@giftcard-pay/checkout/plugin";

/** What a product is, as its shows need it. */
export interface ShowProduct {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly handle: string;
  /** Whether it is on show: published, and not deleted. */
  readonly isPublished: boolean;
  /** Addresses of its pictures, the thumbnail first. */
  readonly pictureUrls: readonly string[];
  /** What its variants cost at least, by their value of the date option; by "" where they have none. Null where no price is known. */
  readonly lowestCents: Readonly<Record<string, number | null>>;
}

/** A variant's price in euro for everybody: of no price list, by no rule, for one piece. */
const PRICE = `select min(round(price.amount * 100)) from product_variant_price_set link
  join price on price.price_set_id = link.price_set_id and price.deleted_at is null
  where link.variant_id = v.id and link.deleted_at is null and price.currency_code = 'eur' and price.price_list_id is null
    and coalesce(price.rules_count, 0) = 0 and coalesce(price.min_quantity, 0) <= 1`;

/** A variant's value of the option that says the date. */
const DATE = `select value.value from product_variant_option chosen
  join product_option_value value on value.id = chosen.option_value_id and value.deleted_at is null
  join product_option option on option.id = value.option_id and lower(option.title) = lower($2)
  where chosen.variant_id = v.id limit 1`;

/**
 * Reads products, also deleted ones that Medusa keeps.
 *
 * Reads product, image, product_variant, product_variant_option, product_option_value, product_option,
 * product_variant_price_set and price.
 *
 * @param dateOption the option whose values are dates
 */
export async function readShowProducts(
  sql: Sql,
  ids: readonly string[],
  dateOption: string,
): Promise<ShowProduct[]> {
  const rows = await sql(
    `select p.id, p.title, p.description, p.handle, p.thumbnail,
       p.status = 'published' and p.deleted_at is null as is_published,
       (select coalesce(json_agg(image.url order by image.rank, image.id), '[]') from image
         where image.product_id = p.id and image.deleted_at is null) as pictures,
       (select coalesce(json_object_agg(dated.value, dated.cents), '{}') from (
         select coalesce((${DATE}), '') as value, min((${PRICE})) as cents
         from product_variant v where v.product_id = p.id and v.deleted_at is null group by 1) dated) as cents
     from product p where p.id = any($1::text[])`,
    [ids, dateOption],
  );
  return rows.map((row) => {
    const pictures = [row.thumbnail as string | null, ...(row.pictures as string[])];
    return {
      id: String(row.id),
      title: String(row.title),
      description: row.description as string | null,
      handle: String(row.handle),
      isPublished: row.is_published === true,
      pictureUrls: [...new Set(pictures.filter((url) => url !== null))],
      lowestCents: row.cents as ShowProduct["lowestCents"],
    };
  });
}

/**
 * The products of variants, also of deleted ones.
 *
 * Reads product_variant.
 */
export async function productsOfVariants(sql: Sql, variantIds: readonly string[]): Promise<string[]> {
  const rows = await sql("select distinct product_id from product_variant where id = any($1::text[])", [
    variantIds,
  ]);
  return rows.map(({ product_id }) => String(product_id));
}

/**
 * Products whose events the feed shows as published, though the product isn't any more.
 *
 * Reads product.
 */
export async function findHidden(sql: Sql): Promise<string[]> {
  const rows = await sql(
    `select distinct e.product_id from giftcard_event e left join product p on p.id = e.product_id
     where e.state = 'published' and (p.id is null or p.deleted_at is not null or p.status <> 'published')`,
    [],
  );
  return rows.map(({ product_id }) => String(product_id));
}

/**
 * The product that has this id or handle, if it is published.
 *
 * Reads product.
 */
export async function findPublishedProduct(sql: Sql, idOrHandle: string): Promise<string | null> {
  const [row] = await sql(
    `select id from product where (id = $1 or handle = $1) and status = 'published' and deleted_at is null
     order by id = $1 desc limit 1`,
    [idOrHandle],
  );
  return row ? String(row.id) : null;
}
