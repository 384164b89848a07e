// @module-tag long
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writePast } from "./support/past-shop.js";
import { startShop, type TestShop } from "./support/shop.js";

const past = { orders: 15_000, withCards: 10_000, abandoned: 1000, recent: 3000 };

let shop: TestShop;
let database: pg.Client;
beforeAll(async () => {
  shop = await startShop({ TEST_RECOVER_BY_HAND: "yes" });
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  await writePast(database, past);
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

const recover = () => shop.storefront.ok("POST", "/admin/giftcard-pay/recover", {});

/** Rows of each table read so far by sequential scans and by index, over all connections. */
async function rowsRead() {
  // PostgreSQL publishes a connection's statistics within ten idle seconds.
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const { rows } = await database.query(
    `select relname, seq_tup_read::float8 as scanned, coalesce(idx_tup_fetch, 0)::float8 as looked_up from pg_stat_user_tables
     where n_live_tup > 100 or relname like 'giftcard%'`,
  );
  return new Map(rows.map(({ relname, scanned, looked_up }) => [String(relname), { scanned, looked_up }]));
}

test("recovery reads open work and one page of the past, and never scans one of Medusa's tables", {
  tags: "long",
}, async () => {
  await recover();
  const before = await rowsRead();
  const runs = 10;
  for (let run = 0; run < runs; run += 1) await recover();
  const after = await rowsRead();
  const read = [...after].map(([table, now]) => ({
    table,
    scanned: now.scanned - (before.get(table)?.scanned ?? 0),
    lookedUp: (now.looked_up - (before.get(table)?.looked_up ?? 0)) / runs,
  }));
  const named = (table: string) => read.find((one) => one.table === table);
  // Recovery did read the past: ten pages, more than all of it.
  expect(named("payment")?.lookedUp).toBeGreaterThan(1000);
  const big = ["order", "payment", "capture", "refund", "payment_session", "order_transaction", "order_cart", "cart"];
  const links = ["order_payment_collection", "cart_payment_collection"];
  for (const table of [...big, ...links, "giftcard_tender"]) {
    expect(named(table)?.scanned, `${table} was scanned`).toBe(0);
    // A page has 2,000 rows, and the last day 3,000; the abandoned carts have fewer. Some rows are read three times.
    expect(named(table)?.lookedUp, `${table} was read too often`).toBeLessThan(15_000);
  }
});

test("a search for charges scans no table", async () => {
  const search = (query: string) => shop.storefront.ok("GET", `/admin/giftcard-pay/charges?${query}`);
  await database.query("insert into customer (id, email) values ('cus_1', 'ada@example.com')");
  await database.query("update cart set customer_id = 'cus_1' where id = 'cart_42'");
  const before = await rowsRead();
  const [order] = (await database.query(`select display_id from "order" where id = 'order_42'`)).rows;
  for (const q of ["0042", `%23${order.display_id}`, "ada@example.com", "order_42"])
    expect((await search(`q=${q}`)).count, q).toBe(1);
  expect((await search("q=24.98")).count).toBe(0);
  const after = await rowsRead();
  const scanned = [...after].filter(([table, now]) => now.scanned > (before.get(table)?.scanned ?? 0));
  expect(
    scanned.map(([table]) => table).filter((table) => /^(giftcard_charge|order|cart|order_cart)$/.test(table)),
  ).toEqual([]);
});

test("recovery finds work that Medusa left unfinished years ago", async () => {
  // Canceled in Medusa while the journal could not be written: the card is still charged.
  const i = past.withCards - 7;
  await database.query(`update "order" set canceled_at = now(), status = 'canceled' where id = $1`, [`order_${i}`]);
  // A capture that was never recorded on the order.
  await database.query("delete from order_transaction where id = $1", [`gifttrx_${i - 2}`]);
  const pages = past.withCards / 2000 + 1;
  for (let run = 0; run < pages; run += 1) await recover();
  const found = await database.query("select state from giftcard_charge where order_id = $1", [`order_${i}`]);
  // It belongs to another service, so a person must decide; nothing was sent.
  expect(found.rows).toEqual([{ state: "needs_attention" }]);
  const { rows } = await database.query(
    "select amount::float8 from order_transaction where order_id = $1 and reference_id = $2",
    [`order_${i - 2}`, `giftcapt_${i - 2}`],
  );
  expect(rows).toEqual([{ amount: 10 }]);
});
