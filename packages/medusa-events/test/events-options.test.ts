// @module-tag long
import { createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEventsShop, type TestShop } from "./support/events-shop.js";
import { createShows, type Shows } from "./support/shows.js";

const productUrl = "https://shop.example/{id}?a={handle}";

let shop: TestShop;
let shows: Shows;
beforeAll(async () => {
  shop = await startEventsShop({ TEST_EVENTS_OFTEN: "yes" }, { productUrl, organiser: null, publish: "automatic" });
  shows = await createShows(shop);
});
afterAll(() => shop?.stop());

test("with `automatic`, publishes events when they are complete, and not those that staff withdrew", async () => {
  const productId = await shows.create("by-itself", {}, { status: "draft" });
  const event = async () => (await shows.eventsOf(productId))[0];
  expect(await event()).toMatchObject({
    state: "draft",
    faults: [
      { field: "organiser", message: "is required" },
      { field: "product", message: expect.any(String) },
    ],
  });
  const details = { organiser: "Zaal Noord BV", dates: [{ id: "1", start: "2036-04-12T21:00:00" }] };
  expect((await shows.save(productId, details)).status).toBe(200);
  await shop.storefront.ok("POST", `/admin/products/${productId}`, { status: "published" });
  await expect.poll(event).toMatchObject({ state: "published", delivery: { state: "delivered" } });
  const [listed] = await shows.issuer.listEvents();
  expect(listed).toMatchObject({ ticketLink: `https://shop.example/${productId}?a=by-itself` });

  await shows.send("POST", "/retract", { keys: [`${productId}:1`], state: "withdrawn" });
  const other = await shows.create("another", { organiser: "Zaal Noord BV" });
  await expect.poll(async () => (await shows.eventsOf(other))[0]).toMatchObject({ delivery: { state: "delivered" } });
  expect(await event()).toMatchObject({ state: "withdrawn" });
});

test("publishes all complete events at once, in as few calls as possible", async () => {
  await shop.crash();
  await shop.restart({ organiser: "Zaal Noord BV", publish: "by-hand" });
  const dates = Array.from({ length: 300 }, (_, n) => ({
    start: new Date(Date.UTC(2036, 0, 1 + n, 20)).toISOString().slice(0, 19),
  }));
  for (const handle of ["season-a", "season-b"]) await shows.create(handle, { dates });
  const missing = await shows.send("GET", "?filter=missing&limit=1");
  expect(missing.body).toMatchObject({ count: 600, isAutomatic: false, counts: { missing: 600 } });
  const before = shop.proxy.seen.filter(({ operation }) => operation === "newevent").length;
  expect((await shows.send("POST", "/publish", { all: true })).body.published.length).toBe(600);
  await expect.poll(async () => (await shows.send("GET", "?filter=missing&limit=1")).body.count).toBe(0);
  expect(shop.proxy.seen.filter(({ operation }) => operation === "newevent").length - before).toBe(2);
  expect((await shows.timesAtIssuer("season-a")) + (await shows.timesAtIssuer("season-b"))).toBe(600);
});

test("publishes all events to another issuer too", async () => {
  const company = await shop.service.createCompany();
  const issuer = createClient({
    ...{ baseUrl: shop.service.url, apiKey: company.apiKey, companyId: company.companyId },
  });
  await shop.crash();
  await shop.restart({ apiKey: company.apiKey, companyId: company.companyId });
  const missing = await shows.send("GET", "?filter=missing&limit=1");
  const { count } = missing.body;
  expect(count).toBeGreaterThan(600);
  expect(await issuer.listEvents()).toEqual([]);
  expect((await shows.send("POST", "/publish", { all: true })).body.published.length).toBe(count);
  await expect.poll(async () => (await issuer.listEvents()).length).toBe(count);
  expect((await shows.send("POST", "/publish", { all: true })).body.published).toEqual([]);
});
