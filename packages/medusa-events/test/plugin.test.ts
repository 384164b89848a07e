import { readdir } from "node:fs/promises";
import path from "node:path";
import type { Migration } from "@medusajs/framework/mikro-orm/migrations";
import pg from "pg";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import giftcards from "../../medusa/package.json" with { type: "json" };
import plugin from "../package.json" with { type: "json" };
import { readOptions } from "../src/options.js";

const issuer = { baseUrl: "https://cards.example", apiKey: "key", companyId: "7" };
const productUrl = "https://shop.example/{handle}";

test("needs the gift card plugin neither as a dependency nor in its sources", async () => {
  expect(Object.keys({ ...plugin.dependencies, ...plugin.peerDependencies })).not.toContain("@giftcard-pay/medusa");
  expect(plugin.peerDependencies).toEqual(giftcards.peerDependencies);
});

test("options have defaults", () => {
  expect(readOptions({ ...issuer, productUrl, database: {} })).toEqual({
    ...issuer,
    productUrl,
    companyId: 7,
    allowHttp: false,
    timeoutMs: 10_000,
    timeZone: "Europe/Amsterdam",
    dateOption: "Date",
    publish: "by-hand",
  });
});

test("reports all wrong options at once, without their values", () => {
  const notSet = "is not set. If it comes from an environment variable, set that variable.";
  const secret = "s3cret";
  const options = {
    productUrl: "https://shop.example",
    baseUrl: secret,
    companyId: "",
    timeZone: secret,
    apikey: secret,
  };
  const message = "@giftcard-pay/medusa-events: wrong options.";
  expect(() => readOptions(options)).toThrow(
    `${message} productUrl: must be an http or https address with {handle} or {id} in it. ` +
      `baseUrl: must be an http or https address. apiKey: ${notSet} companyId: ${notSet} ` +
      `timeZone: must name a time zone, such as Europe/Amsterdam. options: Unrecognized key: "apikey"`,
  );
  for (const companyId of ["many", 0, 1.5])
    expect(() => readOptions({ ...issuer, productUrl, companyId })).toThrow(
      "companyId: must be a whole number, 1 or more.",
    );
});

test("the migration creates the plugin's tables, and removes them on rollback", async () => {
  const database = new pg.Client({ connectionString: await testDatabase() });
  await database.connect();
  const tables = async () =>
    (await database.query("select tablename from pg_tables where schemaname = 'public' order by 1")).rows.map(
      ({ tablename }) => tablename,
    );
  const folder = path.resolve(import.meta.dirname, "../src/modules/giftcard-events/migrations");
  const run = async (direction: "up" | "down") => {
    for (const file of await readdir(folder)) {
      const [Made] = Object.values(await import(path.join(folder, file))) as (new (...args: unknown[]) => Migration)[];
      const migration = Made && new Made({}, {});
      await migration?.[direction]();
      for (const statement of migration?.getQueries() ?? []) await database.query(String(statement));
    }
  };
  try {
    await run("up");
    expect(await tables()).toEqual([
      ...["giftcard_event", "giftcard_event_call", "giftcard_event_delivery", "giftcard_show"],
    ]);
    await run("down");
    expect(await tables()).toEqual([]);
  } finally {
    await database.end();
  }
});
