import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { createStoreDatabase } from "../../../scripts/shops/medusa-store.mjs";
import * as showProducts from "../src/shows/show-products.js";

// Runs each statement on Medusa's own tables against the tables of a real store.

let database: pg.Client;
beforeAll(async () => {
  const connectionString = await createStoreDatabase(inject("postgresUrl"));
  database = new pg.Client({ connectionString });
  await database.connect();
});
afterAll(() => database?.end());
beforeEach(async () => void (await database.query("begin")));
afterEach(async () => void (await database.query("rollback")));

const sql = async (text: string, params: unknown[] = []) => (await database.query(text, params)).rows;

test("a product has its pictures, and the lowest price per value of the date option", async () => {
  await sql("update product set thumbnail = 'https://shop.example/a.png' where handle = 'summer-night-festival'");
  await sql(
    `insert into image (id, url, rank, product_id) select 'img_one', 'https://shop.example/b.png', 0, id from product
     where handle = 'summer-night-festival'`,
  );
  // Prices that don't count: in another currency, and for a minimum quantity.
  await sql(
    `insert into price (id, price_set_id, currency_code, amount, raw_amount, rules_count, min_quantity, price_list_id)
     select 'price_' || kind, set_id, case kind when 'usd' then 'usd' else 'eur' end, 1, '{"value": "1"}', 0,
       case kind when 'many' then 10 end, null
     from (select link.price_set_id as set_id from product p join product_variant v on v.product_id = p.id
       join product_variant_price_set link on link.variant_id = v.id where p.handle = 'summer-night-festival') one,
       unnest(array['usd', 'many']) kind`,
  );
  const id = (await showProducts.findPublishedProduct(sql, "summer-night-festival")) ?? "";
  const product = {
    id: expect.stringMatching(/^prod_/),
    title: "Summer Night Festival",
    handle: "summer-night-festival",
    description: expect.stringContaining("six bands"),
    isPublished: true,
    pictureUrls: ["https://shop.example/a.png", "https://shop.example/b.png"],
  };
  expect(await showProducts.readShowProducts(sql, [id], "ticket")).toEqual([
    { ...product, lowestCents: { "Two tickets": 7498 } },
  ]);
  expect(await showProducts.readShowProducts(sql, [id], "Date")).toEqual([{ ...product, lowestCents: { "": 7498 } }]);
});

test("a deleted variant still leads to its product", async () => {
  await sql("update product_variant set deleted_at = now() where sku = 'SUMMER-NIGHT-2'");
  const [variant] = await sql("select id from product_variant where sku = 'SUMMER-NIGHT-2'");
  expect(await showProducts.productOfVariant(sql, variant.id)).toMatch(/^prod_/);
  expect(await showProducts.productOfVariant(sql, "variant_none")).toBeNull();
});

test("finds the products of published events that are unpublished or deleted", async () => {
  for (const handle of ["summer-night-festival", "open-air-cinema", "none"])
    await sql(
      `insert into giftcard_event (key, product_id, title, starts, desired_state, is_on_sale, content, faults, last_day)
       select $1, coalesce((select id from product where handle = $1), 'prod_deleted'), '', '', 'published', true, '{}', '[]',
         '2036-04-12'`,
      [handle],
    );
  const [{ id }] = await sql("update product set status = 'draft' where handle = 'open-air-cinema' returning id");
  expect((await showProducts.findHidden(sql)).toSorted()).toEqual([id, "prod_deleted"].toSorted());
});

test("finds a product by its handle only if it is published", async () => {
  await sql("update product set status = 'draft' where handle = 'open-air-cinema'");
  expect(await showProducts.findPublishedProduct(sql, "summer-night-festival")).toMatch(/^prod_/);
  expect(await showProducts.findPublishedProduct(sql, "open-air-cinema")).toBeNull();
  expect(await showProducts.findPublishedProduct(sql, "none")).toBeNull();
});
