/** The plain shop, as it stands in its folder, with its payments written down on PostgreSQL where it is told so. */
import { createPostgresStore } from "@giftcard-pay/checkout";
import { createSqliteStore } from "@giftcard-pay/checkout/sqlite";
import pg from "pg";
import { startShop } from "../../../../examples/plain-shop/server.js";
import { readSettings } from "../../../../examples/plain-shop/settings.js";

const settings = readSettings(process.env);

async function openPostgres(/** @type {string} */ connectionString) {
  const pool = new pg.Pool({ connectionString, max: 10 });
  // A connection that ends while nobody uses it.
  pool.on("error", (error) => console.error(error.message));
  const store = createPostgresStore({ pool });
  await store.migrate();
  return store;
}

const { STORE_URL } = process.env;
startShop(settings, STORE_URL ? await openPostgres(STORE_URL) : await createSqliteStore({ file: settings.file }));
