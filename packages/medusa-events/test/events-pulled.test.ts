import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEventsShop, type TestShop } from "./support/events-shop.js";
import { createShows, type Shows } from "./support/shows.js";

/** Dates per product. Set TEST_SHOWS for a longer run. */
const DATES = 60;
const PRODUCTS = Number(process.env.TEST_SHOWS ?? 5 * DATES) / DATES;

let shop: TestShop;
let shows: Shows;
beforeAll(async () => {
  shop = await startEventsShop();
  shows = await createShows(shop);
});
afterAll(async () => {
  await shop?.stop();
});

interface Pulled {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly withdrawn: readonly string[];
  readonly unchanged: number;
}

/** Lets the service pull the shop's feed. */
const pull = async (...more: string[]) =>
  (await shop.service.command(
    ...["events", "pull", "--company", String(shop.company.companyId), ...more],
    ...["--url", `${shop.medusa.url}/giftcard-pay/events.json`, "--allow-private"],
  )) as Pulled;
const listed = async (title: string) => (await shows.issuer.listEvents()).filter((event) => event.title === title);
const eventOf = async (productId: string) => (await shows.eventsOf(productId))[0];
const compare = async () => (await shows.send("POST", "/compare", {})).body;
const edit = (productId: string, product: object) =>
  shop.storefront.ok("POST", `/admin/products/${productId}`, product);

test("a sent event stays the same event when the feed is pulled, and the shop notices that a change arrived", async () => {
  const productId = await shows.create("pulled");
  await shows.publish(`${productId}:1`);
  const [sent] = await listed("pulled");
  await pull();
  expect((await listed("pulled")).map(({ id }) => id)).toEqual([sent?.id]);
  expect(await compare()).toEqual({ compared: 1, changed: [] });

  await edit(productId, { title: "pulled, late" });
  await expect.poll(async () => (await eventOf(productId))?.delivery.differences.length).toBe(1);
  // The issuer hasn't pulled the change yet.
  expect((await compare()).changed).toEqual([]);
  expect((await pull()).changed).toEqual([`${productId}:1`]);
  expect(await listed("pulled, late")).toMatchObject([{ id: sent?.id }]);
  expect((await compare()).changed).toEqual([`${productId}:1`]);
  expect((await eventOf(productId))?.delivery).toMatchObject({
    state: "delivered",
    isListed: true,
    differences: [],
  });
});

test("a withdrawn event leaves the issuer's list, and returns as the same event", async () => {
  const productId = await shows.create("off");
  await shows.publish(`${productId}:1`);
  const [sent] = await listed("off");
  await shows.send("POST", "/retract", { keys: [`${productId}:1`], state: "withdrawn" });
  expect((await pull()).withdrawn).toContain(`${productId}:1`);
  expect(await listed("off")).toEqual([]);
  expect((await compare()).changed).toEqual([`${productId}:1`]);
  expect(await eventOf(productId)).toMatchObject({ state: "withdrawn", delivery: { isListed: false } });
  const others = async () => (await shows.send("GET", "?filter=changed")).body.events;
  expect((await others()).map(({ key }: { key: string }) => key)).not.toContain(`${productId}:1`);

  await shows.publish(`${productId}:1`);
  expect((await others()).map(({ key }: { key: string }) => key)).toContain(`${productId}:1`);
  await pull();
  expect(await listed("off")).toMatchObject([{ id: sent?.id }]);
  await compare();
  expect(await eventOf(productId)).toMatchObject({ state: "published", delivery: { isListed: true } });
});

test("an event that the issuer pulled before it was sent gets its id once both copies are equal", async () => {
  const productId = await shows.create("fed");
  await shop.proxy.listen(false);
  await shows.publish(`${productId}:1`);
  await pull();
  const [fed] = await listed("fed");
  await edit(productId, { title: "fed, late" });
  await expect.poll(async () => (await eventOf(productId))?.title).toBe("fed, late");
  await shop.proxy.listen(true);
  await shows.publish(`${productId}:1`);
  expect((await eventOf(productId))?.delivery).toMatchObject({
    ...{ state: "delivered", issuerId: null, isListed: false },
  });
  await pull();
  expect((await compare()).changed).toEqual([`${productId}:1`]);
  expect((await eventOf(productId))?.delivery).toMatchObject({
    ...{ state: "delivered", issuerId: fed?.id, isListed: true, differences: [] },
  });
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

test("the issuer has many events as the feed has them, after edits and retractions too", async () => {
  const dates = Array.from({ length: DATES }, (_, index) => ({
    start: new Date(Date.UTC(2036, 0, 1 + index, 20)).toISOString().slice(0, 19),
  }));
  const productIds: string[] = [];
  for (let number = 0; number < PRODUCTS; number++) productIds.push(await shows.create(`many-${number}`, { dates }));
  await shows.send("POST", "/publish", { all: true });
  const total = PRODUCTS * DATES;
  expect((await pull()).withdrawn).toEqual([]);
  const many = async () => (await shows.issuer.listEvents()).filter(({ title }) => title.startsWith("many-")).length;
  // An event that is both pulled and sent exists once.
  await expect.poll(many, { timeout: 120_000, interval: 500 }).toBe(total);
  await expect.poll(async () => (await shows.send("GET", "?filter=missing")).body.count, { timeout: 120_000 }).toBe(0);
  expect(await many()).toBe(total);

  // Edit a tenth, and cancel a hundredth.
  const edited = productIds.slice(0, Math.ceil(PRODUCTS / 10));
  for (const productId of edited) await edit(productId, { description: "Until four." });
  const back = dates.slice(0, Math.ceil(total / 100)).map((_, index) => `${productIds.at(-1)}:${index + 1}`);
  await shows.send("POST", "/retract", { keys: back, state: "canceled" });
  const { withdrawn, changed, created } = await pull();
  expect([withdrawn.toSorted(), changed.length, created]).toEqual([back.toSorted(), edited.length * DATES, []]);
  expect(await pull()).toMatchObject({ created: [], changed: [], withdrawn: [] });
  expect(await many()).toBe(total - back.length);
  expect((await shows.send("GET", "?filter=changed")).body.count).toBeGreaterThan(0);
  await compare();
  expect((await shows.send("GET", "?filter=changed")).body.count).toBe(0);
});

test("an unreachable shop changes nothing at the issuer", async () => {
  const before = await shows.issuer.listEvents();
  await shop.crash();
  await expect(pull()).rejects.toThrow();
  expect(await shows.issuer.listEvents()).toEqual(before);
});
