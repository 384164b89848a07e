// @module-tag long
import { readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { dayOf } from "@giftcard-pay/checkout/operator";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runWith } from "./support/command-line.js";
import { copyOrders } from "./support/copied-orders.js";
import { fulfil, takeBack } from "./support/order-admin.js";
import { buy, giveBack } from "./support/ordinary-shop.js";
import { startShop, type TestShop } from "./support/shop.js";

const COPIES = 6000;
/** Medusa's framework alone needs 45 MB. An export that kept 3 kB for each order would need 63 MB, and a page of orders. */
const HEAP_MB = 64;

let shop: TestShop;
let database: pg.Client;
let refundedCents: number;
beforeAll(async () => {
  shop = await startShop({ TEST_RECOVER_BY_HAND: "yes" }, { charges: "by-line" });
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  await shop.storefront.createProduct("volume", 24.95);
  const { orderId } = await buy(shop, { volume: 3 }, { balancesCents: [3000, 2000] });
  await fulfil(shop.storefront, orderId, ["volume"]);
  await takeBack(shop.storefront, orderId, "volume", 1);
  refundedCents = await giveBack(shop.storefront, orderId);
  await shop.passTime(5 * 60_000);
  await copyOrders(database, COPIES);
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

test("the memory of an export doesn't depend on the number of orders", { timeout: 240_000 }, async () => {
  const days = ["--from", dayOf(new Date(Date.now() - 3 * 24 * 60 * 60_000)), "--to", dayOf(new Date())];
  const output = path.join(os.tmpdir(), `giftcard-large-books-${process.pid}.csv`);
  try {
    const { exitCode, stdout } = await runWith(
      { DATABASE_URL: shop.databaseUrl, NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
      ...["books", ...days, "--directory", os.tmpdir(), "--csv", "--output", output],
    );
    expect(exitCode, stdout).toBe(0);
    const [names = [], ...rows] = (await readFile(output, "utf8"))
      .trimEnd()
      .split("\r\n")
      .map((line) => line.replaceAll('"', "").split(","));
    const countOf = (kind: string) => rows.filter((row) => row[names.indexOf("movement")] === kind).length;
    expect([countOf("sale"), countOf("refund"), rows.length]).toEqual([COPIES + 1, COPIES + 1, 2 * (COPIES + 1) + 1]);
    const keptCents = Math.round(Number(rows.at(-1)?.[names.indexOf("gross_eur")]) * 100);
    expect(keptCents).toBe((6737 - refundedCents) * (COPIES + 1));
  } finally {
    await rm(output, { force: true });
  }
});
