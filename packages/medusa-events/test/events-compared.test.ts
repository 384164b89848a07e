// @module-tag long

import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEventsShop, type TestShop } from "./support/events-shop.js";
import { createShows, type Shows } from "./support/shows.js";

let shop: TestShop;
let shows: Shows;
beforeAll(async () => {
  shop = await startEventsShop();
  shows = await createShows(shop);
});
afterAll(async () => {
  await shop?.stop();
});

const listed = async (title: string) => (await shows.issuer.listEvents()).filter((event) => event.title === title);
const eventOf = async (productId: string) => (await shows.eventsOf(productId))[0];
const compare = async () => (await shows.send("POST", "/compare", {})).body;

test("the shop notices a change that the issuer has made by hand", async () => {
  const productId = await shows.create("edited");
  const key = `${productId}:1`;
  await shows.publish(key);
  const [sent] = await listed("edited");
  expect(await compare()).toEqual({ compared: 1, changed: [] });
  await shop.storefront.ok("POST", `/admin/products/${productId}`, { title: "edited, late" });
  await expect.poll(async () => (await eventOf(productId))?.delivery.differences.length).toBe(1);
  expect((await compare()).changed).toEqual([]);
  const database = new pg.Client({ connectionString: shop.service.databaseUrl });
  await database.connect();
  await database.query("update events set name = 'edited, late' where id = $1", [sent?.id]);
  expect((await compare()).changed).toEqual([key]);
  expect((await eventOf(productId))?.delivery).toMatchObject({ isListed: true, differences: [] });

  await shows.send("POST", "/retract", { keys: [key], state: "withdrawn" });
  await database.query("delete from events where id = $1", [sent?.id]);
  await database.end();
  expect((await compare()).changed).toEqual([key]);
  expect(await eventOf(productId)).toMatchObject({ state: "withdrawn", delivery: { isListed: false } });
  expect((await shows.send("GET", "?filter=changed")).body.events).toEqual([]);
});

test("events that the issuer lost are reported, and sent again when republished, even if their ids are reused", async () => {
  const lost = [await shows.create("lost-a"), await shows.create("lost-b")];
  const keys = lost.map((productId) => `${productId}:1`);
  await shows.publish(...keys);
  const [before] = await listed("lost-a");
  // The issuer restores a backup from before both events, and assigns their ids again.
  const database = new pg.Client({ connectionString: shop.service.databaseUrl });
  await database.connect();
  await database.query("delete from events where event_key = any($1)", [keys]);
  await database.query(`alter table events alter id restart with ${before?.id}`);
  await database.query("delete from idempotency_keys");
  await database.end();
  expect((await compare()).changed.toSorted()).toEqual(keys.toSorted());
  expect(await eventOf(lost[0] ?? "")).toMatchObject({
    ...{ state: "published", delivery: { state: "delivered", isListed: false } },
  });
  // The second event gets the first one's id.
  for (const key of keys.toReversed()) {
    await shows.publish(key);
    await compare();
  }
  expect((await listed("lost-b")).map(({ id }) => id)).toEqual([before?.id]);
  for (const [at, productId] of lost.entries()) {
    const [own, ...more] = await listed(at === 0 ? "lost-a" : "lost-b");
    expect(more).toEqual([]);
    expect((await eventOf(productId))?.delivery).toMatchObject({
      ...{ state: "delivered", issuerId: own?.id, isListed: true },
    });
  }
});

test("a comparison doesn't overwrite an event that is delivered again meanwhile", async () => {
  const productId = await shows.create("overtaken");
  const key = `${productId}:1`;
  await shows.publish(key);
  const issuer = new pg.Client({ connectionString: shop.service.databaseUrl });
  const own = new pg.Client({ connectionString: shop.databaseUrl });
  await Promise.all([issuer.connect(), own.connect()]);
  try {
    await issuer.query("delete from events where event_key = $1", [key]);
    await own.query("begin");
    await own.query("select 1 from giftcard_event_delivery where key = $1 for update", [key]);
    const comparing = compare();
    await expect
      .poll(async () => (await own.query("select 1 from pg_locks where not granted")).rowCount)
      .toBeGreaterThan(0);
    // As if a push had just delivered it.
    await own.query("update giftcard_event_delivery set delivered_at = now() where key = $1", [key]);
    await own.query("commit");
    await comparing;
    expect((await eventOf(productId))?.delivery).toMatchObject({ isListed: true });
    await compare();
    expect((await eventOf(productId))?.delivery).toMatchObject({ isListed: false });
  } finally {
    await Promise.all([issuer.end(), own.end()]);
  }
});
