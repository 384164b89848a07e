// @module-tag long
import ICAL from "ical.js";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEventsShop, type TestShop } from "./support/events-shop.js";
import { createShows, type Shows } from "./support/shows.js";

let shop: TestShop;
let shows: Shows;
let database: pg.Client;
beforeAll(async () => {
  shop = await startEventsShop();
  shows = await createShows(shop);
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

/** Fetches a feed as another site or a calendar does: without a publishable key, a cookie or a known origin. */
const fetchFeed = (kind: "json" | "ics") => fetch(`${shop.medusa.url}/giftcard-pay/events.${kind}`);

async function readEvents(): Promise<Record<string, string | number>[]> {
  const response = await fetchFeed("json");
  expect(response.status).toBe(200);
  return (await response.json()).events;
}
const stateOf = async (productId: string) =>
  (await readEvents()).find(({ event_id }) => event_id === `${productId}:1`)?.state;

test("works without the gift card plugin: publishes an event in the feed and at the issuer", async () => {
  const { body } = await shop.storefront.send("GET", "/store/payment-providers?region_id=none");
  expect(JSON.stringify(body)).not.toContain("giftcard");
  for (const path of ["/admin/giftcard-pay/health", "/admin/giftcard-pay/charges"])
    expect((await shop.storefront.send("GET", path)).status).toBe(404);
  const productId = await shows.create("alone");
  expect((await shows.publish(`${productId}:1`)).body.published).toEqual([`${productId}:1`]);
  expect(await stateOf(productId)).toBe("published");
  await expect.poll(() => shows.timesAtIssuer("alone")).toBe(1);
});

test("the feed has published events, and no drafts", async () => {
  const published = await shows.create("public", { lineup: ["De Artiest"] }, { description: "Until four." });
  const draft = await shows.create("draft");
  await shows.publish(`${published}:1`);
  const events = await readEvents();
  expect(events.find(({ event_id }) => event_id === `${published}:1`)).toMatchObject({
    ...{ title: "public", description: "Until four.", organiser: "Night Owl", lineup: "De Artiest" },
    ...{ event_price: "25.00", state: "published", building_name: "Zaal Noord", city: "Amsterdam" },
    ...{ updated_at: expect.stringMatching(/^20/), ticket_link: "http://localhost:8000/products/public" },
  });
  expect(events.some(({ event_id }) => String(event_id).startsWith(draft))).toBe(false);
});

test("omits the events of an unpublished or deleted product in the next fetch, even if the message was lost", async () => {
  const productId = await shows.create("hidden");
  await shows.publish(`${productId}:1`);
  expect(await stateOf(productId)).toBe("published");
  // A change in the database itself causes no message.
  await database.query("update product set status = 'draft' where id = $1", [productId]);
  expect(await stateOf(productId)).toBeUndefined();
  await shop.storefront.ok("POST", `/admin/products/${productId}`, { status: "published" });
  await expect.poll(() => stateOf(productId)).toBe("published");
  await database.query("update product set deleted_at = now() where id = $1", [productId]);
  expect(await stateOf(productId)).toBeUndefined();
});

test("marks canceled events in the feed and the calendar, and omits withdrawn ones", async () => {
  const [canceled, withdrawn] = [await shows.create("canceled"), await shows.create("withdrawn")];
  await shows.publish(`${canceled}:1`, `${withdrawn}:1`);
  await shows.send("POST", "/retract", { keys: [`${canceled}:1`], state: "canceled" });
  await shows.send("POST", "/retract", { keys: [`${withdrawn}:1`], state: "withdrawn" });
  expect([await stateOf(canceled), await stateOf(withdrawn)]).toEqual(["canceled", undefined]);
  const response = await fetchFeed("ics");
  expect(response.headers.get("content-type")).toMatch(/^text\/calendar/);
  const calendar = new ICAL.Component(ICAL.parse(await response.text()));
  const entries = calendar.getAllSubcomponents("vevent").map((entry) => new ICAL.Event(entry));
  const entryOf = (title: string) => entries.find(({ summary }) => summary === title);
  expect(entryOf("canceled")?.component.getFirstPropertyValue("status")).toBe("CANCELLED");
  expect(entryOf("canceled")?.uid).toBe(`${encodeURIComponent(`${canceled}:1`)}@localhost`);
  expect(entryOf("withdrawn")).toBeUndefined();
  // It can be published again, and isn't sent to the issuer a second time.
  await shows.publish(`${canceled}:1`);
  expect(await stateOf(canceled)).toBe("published");
  expect(await shows.timesAtIssuer("canceled")).toBe(1);
});

test("may be read by a page of any site, and is cached for a minute", async () => {
  const { headers } = await fetchFeed("json");
  expect(headers.get("cache-control")).toBe("public, max-age=60");
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("set-cookie")).toBeNull();
  expect(headers.get("etag")).toBeTruthy();
});

test("omits events that ended more than 30 days ago", async () => {
  const productId = await shows.create("over");
  await shows.publish(`${productId}:1`);
  await database.query("update giftcard_event set last_day = current_date - 31 where product_id = $1", [productId]);
  expect(await stateOf(productId)).toBeUndefined();
});

test("serves a product's events for its page in the storefront, with JSON-LD", async () => {
  const productId = await shows.create("page", { lineup: ["</script>"] });
  const path = "/store/giftcard-pay/products";
  expect(await shop.storefront.ok("GET", `${path}/${productId}/events`)).toEqual({ events: [], jsonLd: [] });
  await shows.publish(`${productId}:1`);
  const { events, jsonLd } = await shop.storefront.ok("GET", `${path}/page/events`);
  expect(events).toMatchObject([{ event_id: `${productId}:1`, title: "page" }]);
  expect(jsonLd[0]).not.toContain("</script>");
  expect(JSON.parse(jsonLd[0])).toMatchObject({
    "@type": "Event",
    name: "page",
    performer: [{ name: "</script>" }],
  });
  expect(await shop.storefront.ok("GET", `${path}/none/events`)).toEqual({ events: [], jsonLd: [] });
  expect((await shop.storefront.send("GET", `${path}/a%00b/events`)).body).toEqual({
    events: [],
    jsonLd: [],
  });
});

test("writes a feed of 5,000 events once for requests that come at the same time", async () => {
  const productId = await shows.create("template", {}, { description: "x".repeat(1000) });
  await shows.publish(`${productId}:1`);
  // They belong to a product that is not a show, so that nothing recomputes them.
  await database.query(
    `insert into giftcard_event (key, product_id, title, starts, desired_state, is_on_sale, content, faults, last_day)
     select many.key, $2, title, starts, desired_state, is_on_sale, jsonb_set(content, '{key}', to_jsonb(many.key)), faults, last_day
     from giftcard_event, (select 'zz' || n || ':1' as key from generate_series(10001, 15000) n) many
     where giftcard_event.key = $1`,
    [`${productId}:1`, await shop.storefront.createProduct("many", 25)],
  );
  const fetched = async () => (await fetchFeed("json")).text();
  const took = async (work: () => Promise<unknown>) => {
    const beganAt = performance.now();
    await work();
    return performance.now() - beganAt;
  };
  const oneMs = await took(fetched);
  const hundredMs = await took(async () => {
    const all = await Promise.all(Array.from({ length: 100 }, fetched));
    expect(new Set(all).size).toBe(1);
  });
  // If each request wrote the feed, a hundred would take about a hundred times as long as one.
  expect(hundredMs / oneMs).toBeLessThan(50);
  const { events } = JSON.parse(await fetched());
  expect(events.filter(({ event_id }: { event_id: string }) => event_id.startsWith("zz"))).toHaveLength(5000);
});
