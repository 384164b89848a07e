import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startEventsShop, type TestPeer, type TestShop } from "./support/events-shop.js";
import { createShows, type Shows } from "./support/shows.js";

/** Longer than a lease. */
const LEASE_MS = 120_000;

let shop: TestShop;
let shows: Shows;
let database: pg.Client;
beforeAll(async () => {
  shop = await startEventsShop({ TEST_EVENTS_OFTEN: "yes" }, { timeoutMs: 2000 });
  shows = await createShows(shop);
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
});
beforeEach(async () => {
  shop.proxy.clear();
  await shop.proxy.listen(true);
});
afterAll(async () => {
  await database?.end();
  await shop?.stop();
});

const stateOf = async (productId: string) => (await shows.eventsOf(productId))[0]?.delivery.state;
/** Counts the calls of newevent from now on. */
const callsFromNow = () => {
  const count = () => shop.proxy.seen.filter(({ operation }) => operation === "newevent").length;
  const before = count();
  return () => count() - before;
};
/** After a call that publishes, the job of either process may be the one that sends. */
const untilDelivered = (productId: string) =>
  expect.poll(() => stateOf(productId), { interval: 200 }).toBe("delivered");

describe("a published event", () => {
  test("has the content of its product and its form at the issuer", async () => {
    const productId = await shows.create(
      "spring-night",
      { genres: ["house"], lineup: ["De Artiest"], minimumAgeYears: 18 },
      { description: "Until four." },
    );
    const [draft] = await shows.eventsOf(productId);
    expect(draft).toMatchObject({ key: `${productId}:1`, state: "draft", faults: [] });
    expect(await shows.timesAtIssuer("spring-night")).toBe(0);
    expect((await shows.publish(`${productId}:1`)).body).toEqual({
      published: [`${productId}:1`],
      refused: [],
    });
    await untilDelivered(productId);
    const [event] = await shows.eventsOf(productId);
    const [listed] = (await shows.issuer.listEvents()).filter(({ title }) => title === "spring-night");
    expect(event).toMatchObject({
      state: "published",
      delivery: { issuerId: listed?.id, differences: [] },
    });
    expect(listed).toMatchObject({
      ...{ description: "Until four.", organiser: "Night Owl", date: "2036-04-12", time: "21:00:00" },
      ...{ location: "Zaal Noord, Amsterdam", ticketLink: "http://localhost:8000/products/spring-night" },
    });
  });

  test("is sent once, even if it is published three times", async () => {
    const productId = await shows.create("once");
    const calls = callsFromNow();
    for (let times = 0; times < 3; times++) await shows.publish(`${productId}:1`);
    await untilDelivered(productId);
    expect([await shows.timesAtIssuer("once"), calls()]).toEqual([1, 1]);
  });

  test("is sent once if two people publish it in two processes at once", { tags: "long" }, async () => {
    const peer = await shop.startPeer();
    const productId = await shows.create("race");
    const calls = callsFromNow();
    const ask = (at: TestShop | TestPeer) =>
      at.storefront.send("POST", "/admin/giftcard-pay/events/publish", { keys: [`${productId}:1`] });
    await Promise.all([ask(shop), ask(peer), ask(shop), ask(peer)]);
    await untilDelivered(productId);
    expect([await shows.timesAtIssuer("race"), calls()]).toEqual([1, 1]);
  });

  for (const fault of ["cut-after", "garbage", "half", "error"] as const)
    test(`exists once at the issuer if the response is lost (${fault})`, {
      tags: fault === "cut-after" ? [] : "long",
    }, async () => {
      const productId = await shows.create(`lost-${fault}`);
      shop.proxy.set("newevent", fault, 1);
      await shows.publish(`${productId}:1`);
      await untilDelivered(productId);
      expect(await shows.timesAtIssuer(`lost-${fault}`)).toBe(1);
      const [listed] = (await shows.issuer.listEvents()).filter(({ title }) => title === `lost-${fault}`);
      expect((await shows.eventsOf(productId))[0]?.delivery.issuerId).toBe(listed?.id);
    });

  test("exists once at the issuer if the first call arrives after the second", { tags: "long" }, async () => {
    const productId = await shows.create("late");
    shop.proxy.set("newevent", "late", 1);
    await shows.publish(`${productId}:1`);
    await untilDelivered(productId);
    await shop.proxy.release();
    expect(await shows.timesAtIssuer("late")).toBe(1);
    const keys = shop.proxy.seen.filter(({ operation }) => operation === "newevent").slice(-2);
    expect(keys[0]?.idempotencyKey).toBe(keys[1]?.idempotencyKey);
  });

  test("exists once if the response is lost and the service has no idempotency keys", async () => {
    const productId = await shows.create("plain");
    const calls = callsFromNow();
    shop.proxy.withoutExtension(true);
    shop.proxy.set("newevent", "cut-after", 1);
    await shows.publish(`${productId}:1`);
    await untilDelivered(productId);
    // The issuer's list has it, so nothing is sent again.
    expect([await shows.timesAtIssuer("plain"), calls()]).toEqual([1, 1]);
  });

  test("waits while the service is unreachable, shows why, and is sent when the service is back", {
    tags: "long",
  }, async () => {
    const productId = await shows.create("away");
    await shop.proxy.listen(false);
    expect((await shows.publish(`${productId}:1`)).body.published).toEqual([`${productId}:1`]);
    await expect
      .poll(() => shows.eventsOf(productId))
      .toMatchObject([
        {
          state: "published",
          delivery: { state: "pending", lastError: expect.stringContaining("No connection") },
        },
      ]);
    const failing = await shows.send("GET", "?filter=failing");
    expect(failing.body.events).toMatchObject([{ key: `${productId}:1` }]);
    await shop.proxy.listen(true);
    await untilDelivered(productId);
    expect(await shows.timesAtIssuer("away")).toBe(1);
  });

  test("gets its id from the issuer's list if its key exists there", async () => {
    const productId = await shows.create("known");
    const [created] = await shows.issuer.createEvents([
      {
        ...{
          providerId: shows.providerId,
          name: "known",
          organiser: "Night Owl",
          eventKey: `${productId}:1`,
        },
        ...{ startDate: "2036-04-12", startTime: "21:00:00" },
        ticketLink: "http://localhost:8000/products/known",
      },
    ]);
    await shows.publish(`${productId}:1`);
    await untilDelivered(productId);
    expect((await shows.eventsOf(productId))[0]?.delivery.issuerId).toBe(created?.id);
    expect(await shows.timesAtIssuer("known")).toBe(1);
  });

  test("is refused without delaying others, shows why, and is sent after it is fixed", async () => {
    const right = await shows.create("right");
    const wrong = await shows.create("wrong", { providerId: 999_999 });
    await shows.publish(`${right}:1`, `${wrong}:1`);
    await untilDelivered(right);
    await expect
      .poll(() => shows.eventsOf(wrong))
      .toMatchObject([{ delivery: { state: "refused", lastError: expect.stringContaining("eventprovider_id") } }]);
    expect((await shows.save(wrong, { dates: [{ id: "1", start: "2036-04-12T21:00:00" }] })).status).toBe(200);
    await untilDelivered(wrong);
    expect([await shows.timesAtIssuer("right"), await shows.timesAtIssuer("wrong")]).toEqual([1, 1]);
  });

  test("shows the difference if it is edited while it is sent", { tags: "long" }, async () => {
    const productId = await shows.create("edited");
    shop.proxy.set("newevent", "hold", 1);
    const published = shows.publish(`${productId}:1`);
    await expect.poll(() => stateOf(productId)).toBe("sending");
    await shop.storefront.ok("POST", `/admin/products/${productId}`, { title: "edited anew" });
    await shop.proxy.release();
    await published;
    await untilDelivered(productId);
    expect(await shows.timesAtIssuer("edited")).toBe(1);
    expect(await shows.timesAtIssuer("edited anew")).toBe(0);
    await expect
      .poll(async () => (await shows.eventsOf(productId))[0]?.delivery.differences)
      .toEqual([{ field: "title", sent: "edited", now: "edited anew" }]);
    const changed = await shows.send("GET", "?filter=changed");
    expect(changed.body.events).toMatchObject([{ key: `${productId}:1` }]);
  });

  test("is withdrawn while its product is unpublished, and when the product is deleted", { tags: "long" }, async () => {
    const productId = await shows.create("deleted");
    await shows.publish(`${productId}:1`);
    const state = async () => (await shows.eventsOf(productId))[0]?.state;
    await shop.storefront.ok("POST", `/admin/products/${productId}`, { status: "draft" });
    await expect.poll(state).toBe("withdrawn");
    await shop.storefront.ok("POST", `/admin/products/${productId}`, { status: "published" });
    await expect.poll(state).toBe("published");
    await shop.storefront.ok("DELETE", `/admin/products/${productId}`);
    await expect.poll(state).toBe("withdrawn");
    expect(await shows.timesAtIssuer("deleted")).toBe(1);
  });

  test("is recomputed by the job if a message was lost, and not written if nothing changed", {
    tags: "long",
  }, async () => {
    const [same, other] = [await shows.create("same"), await shows.create("other", { genres: ["house"] })];
    await shows.publish(`${same}:1`, `${other}:1`);
    const writtenBy = async () =>
      (await database.query("select xmin from giftcard_event where product_id = $1", [same])).rows;
    const before = await writtenBy();
    await database.query("update product set title = 'lost message' where id = $1", [other]);
    const title = async () => (await shows.eventsOf(other))[0]?.title;
    await expect.poll(title).toBe("lost message");
    expect(await writtenBy()).toEqual(before);
  });

  test.each([
    ["a price that no event can have", "30000000", ["priceFromCents"]],
    ["a negative price", "-5", []],
  ])("with %s delays no other event, and can be edited", async (name, amount, faults) => {
    const [odd, other] = [await shows.create(`odd${amount}`), await shows.create(`beside${amount}`)];
    await shows.publish(`${odd}:1`);
    await database.query(
      `update price set amount = $2::numeric, raw_amount = jsonb_build_object('value', $2::text, 'precision', 20)
       where price_set_id in (select link.price_set_id from product_variant_price_set link
         join product_variant variant on variant.id = link.variant_id where variant.product_id = $1)`,
      [odd, amount],
    );
    await database.query("update product set title = $2 where id = $1", [other, name]);
    await expect.poll(async () => (await shows.eventsOf(other))[0]?.title).toBe(name);
    const fields = async () => (await shows.eventsOf(odd))[0]?.faults.map(({ field }) => field);
    await expect.poll(fields).toEqual(faults);
    const { status } = await shows.save(odd, { dates: [{ id: "1", start: "2036-04-13T21:00:00" }] });
    expect(status).toBe(200);
  });

  test("doesn't count as failing if it is canceled before it is sent", { tags: "long" }, async () => {
    const productId = await shows.create("off-before");
    await shop.proxy.listen(false);
    await shows.publish(`${productId}:1`);
    const failing = async () =>
      (await shows.send("GET", "?filter=failing")).body.events.map(({ key }: { key: string }) => key);
    expect(await failing()).toContain(`${productId}:1`);
    await shows.send("POST", "/retract", { keys: [`${productId}:1`], state: "canceled" });
    expect(await failing()).not.toContain(`${productId}:1`);
  });

  test.each(["cut-before", "late"] as const)(
    "without a response isn't sent again after it is canceled, and is found if the call arrives late (%s)",
    async (fault) => {
      const productId = await shows.create(`off-${fault}`);
      const calls = callsFromNow();
      shop.proxy.set("newevent", fault, 1);
      shop.proxy.set("getallevents", "error");
      await shows.publish(`${productId}:1`);
      await shows.send("POST", "/retract", { keys: [`${productId}:1`], state: "canceled" });
      shop.proxy.clear();
      await shop.passTime(10_000);
      const lastError = async () => (await shows.eventsOf(productId))[0]?.delivery.lastError;
      await expect.poll(lastError).toContain("no longer published");
      expect([calls(), await shows.timesAtIssuer(`off-${fault}`)]).toEqual([1, 0]);
      if (fault === "late") await shop.proxy.release();
      else await shows.publish(`${productId}:1`);
      await shop.passTime(10_000);
      await untilDelivered(productId);
      expect([calls(), await shows.timesAtIssuer(`off-${fault}`)]).toEqual([fault === "late" ? 1 : 2, 1]);
    },
  );

  test("is given up a day after it was withdrawn without a response", { tags: "long" }, async () => {
    const productId = await shows.create("given-up");
    shop.proxy.set("newevent", "cut-before", 1);
    shop.proxy.set("getallevents", "error");
    await shows.publish(`${productId}:1`);
    await shows.send("POST", "/retract", { keys: [`${productId}:1`], state: "withdrawn" });
    shop.proxy.clear();
    await shop.passTime(25 * 60 * 60_000);
    await expect.poll(() => stateOf(productId)).toBe("pending");
    expect(await shows.timesAtIssuer("given-up")).toBe(0);
  });

  test("is refused if it begins before it is sent, and sent after it is moved", { tags: "long" }, async () => {
    const productId = await shows.create("begun");
    await shop.proxy.listen(false);
    await shows.publish(`${productId}:1`);
    await shows.save(productId, { dates: [{ id: "1", start: "2020-04-12T21:00:00" }] });
    await expect
      .poll(async () => (await shows.eventsOf(productId))[0]?.delivery)
      .toMatchObject({ state: "refused", lastError: "start must be in the future" });
    await shop.proxy.listen(true);
    await shows.save(productId, { dates: [{ id: "1", start: "2036-04-12T21:00:00" }] });
    await untilDelivered(productId);
    expect(await shows.timesAtIssuer("begun")).toBe(1);
  });

  test("is found by its key if there was no response for a day and the issuer's copy has changed", {
    tags: "long",
  }, async () => {
    const productId = await shows.create("day-late");
    const calls = callsFromNow();
    shop.proxy.set("newevent", "cut-after", 1);
    shop.proxy.set("getallevents", "error");
    await shows.publish(`${productId}:1`);
    const issuer = new pg.Client({ connectionString: shop.service.databaseUrl });
    await issuer.connect();
    await issuer.query("update events set name = 'as the issuer says' where name = 'day-late'");
    await issuer.query("update idempotency_keys set created_at = created_at - interval '25 hours'");
    await issuer.end();
    shop.proxy.clear();
    await shop.passTime(10_000);
    await untilDelivered(productId);
    expect((await shows.eventsOf(productId))[0]?.delivery).toMatchObject({ issuerId: null, isListed: false });
    // One lost call, one under the used reference, and one under a new reference, where the event's key exists.
    expect([calls(), await shows.timesAtIssuer("day-late")]).toEqual([3, 0]);
  });

  test("isn't published with all others if its product was unpublished and the message was lost", {
    tags: "long",
  }, async () => {
    const productId = await shows.create("hidden");
    await database.query("update product set status = 'draft' where id = $1", [productId]);
    const { body } = await shows.send("POST", "/publish", { all: true });
    expect(body.published).not.toContain(`${productId}:1`);
    expect(await shows.timesAtIssuer("hidden")).toBe(0);
  });

  test("isn't sent if its product is deleted while it is pending", { tags: "long" }, async () => {
    const productId = await shows.create("gone");
    await shop.proxy.listen(false);
    await shows.publish(`${productId}:1`);
    await shop.storefront.ok("DELETE", `/admin/products/${productId}`);
    await expect.poll(async () => (await shows.eventsOf(productId))[0]?.state).toBe("withdrawn");
    await shop.proxy.listen(true);
    const other = await shows.create("after-gone");
    await shows.publish(`${other}:1`);
    await untilDelivered(other);
    expect(await shows.timesAtIssuer("gone")).toBe(0);
  });
});

describe("an incomplete event", () => {
  test("isn't published, and shows what is missing", async () => {
    const productId = await shows.create("incomplete", {
      providerId: undefined,
      dates: [{ start: "2036-04-31T21:00:00" }],
    });
    const { body } = await shows.publish(`${productId}:1`);
    expect(body.published).toEqual([]);
    expect(body.refused[0].faults.map(({ field }: { field: string }) => field)).toEqual(["start", "providerId"]);
    expect(await shows.eventsOf(productId)).toMatchObject([{ state: "draft", delivery: { state: "none" } }]);
  });

  test.each([
    [{ dates: [{ start: "0000-01-01T20:00:00" }] }, "start"],
    [{ timeZone: "IST" }, "timeZone"],
  ])("with invalid details %j is saved with a fault and delays no other event", async (details, field) => {
    const name = field.toLowerCase();
    const [odd, other] = [await shows.create(`odd-${name}`, details), await shows.create(`no-${name}`)];
    expect(await shows.eventsOf(odd)).toMatchObject([{ faults: [{ field }] }]);
    await database.query("update product set title = $2 where id = $1", [other, `told ${field}`]);
    await expect.poll(async () => (await shows.eventsOf(other))[0]?.title).toBe(`told ${field}`);
  });

  test("is refused with 400 if PostgreSQL can't store it", async () => {
    const productId = await shows.create("nul");
    const answers = [
      await shows.save(productId, { organiser: "a\u0000b" }),
      await shows.save(productId, { organiser: "a\ud800b" }),
      await shows.publish("a\u0000:1"),
      await shows.send("GET", "?q=%00"),
      await shows.send("POST", `/products/${productId}`, { version: 1e15, details: { dates: [] } }),
    ];
    for (const { status, body } of answers) expect([status, body.type]).toEqual([400, "invalid_data"]);
  });

  test("isn't published while its product is a draft, or after its date", async () => {
    const draft = await shows.create("draft", {}, { status: "draft" });
    const past = await shows.create("past", { dates: [{ start: "2020-04-12T21:00:00" }] });
    const { body } = await shows.publish(`${draft}:1`, `${past}:1`);
    expect(body.published).toEqual([]);
    expect(body.refused).toEqual(
      expect.arrayContaining([
        { key: `${draft}:1`, faults: [{ field: "product", message: expect.stringContaining("published") }] },
        { key: `${past}:1`, faults: [{ field: "start", message: "must be in the future" }] },
      ]),
    );
  });

  test("is saved for one of two people who edit it at once", { tags: "long" }, async () => {
    const productId = await shows.create("two-people");
    const { show } = await shows.pageOf(productId);
    const change = (organiser: string) =>
      shows.send("POST", `/products/${productId}`, {
        version: show.version,
        details: { ...show.details, organiser },
      });
    const answers = await Promise.all([change("One BV"), change("Two BV")]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(answers.find(({ status }) => status === 400)?.body.code).toBe("changed_meanwhile");
  });
});

describe("a show whose variants are dates", () => {
  const ticket = (date: string, row: string, amount: number) => ({
    ...{ title: `${date} ${row}`, options: { Date: date, Row: row }, manage_inventory: false },
    prices: [{ currency_code: "eur", amount }],
  });
  const dated = {
    options: [
      { title: "Date", values: ["12 April", "13 April"] },
      { title: "Row", values: ["A", "B"] },
    ],
    variants: [ticket("12 April", "A", 40), ticket("12 April", "B", 24.5), ticket("13 April", "A", 30)],
  };
  const dates = [
    { optionValue: "12 April", start: "2036-04-12T21:00:00" },
    { optionValue: "13 April", start: "2036-04-13T21:00:00" },
  ];

  test("has one event per date, with the date's lowest price", async () => {
    const productId = await shows.create("two-nights", { dates }, dated);
    expect((await shows.pageOf(productId)).optionValues.toSorted()).toEqual(["12 April", "13 April"]);
    await shows.publish(`${productId}:1`, `${productId}:2`);
    await expect.poll(() => shows.timesAtIssuer("two-nights")).toBe(2);
    const { rows } = await database.query(
      "select content ->> 'priceFromCents' as cents from giftcard_event_delivery where key like $1 order by key",
      [`${productId}:%`],
    );
    expect(rows.map(({ cents }) => Number(cents))).toEqual([2450, 3000]);
  });

  test("withdraws a date's event if no variant has the date any more, or the date is removed", {
    tags: "long",
  }, async () => {
    const productId = await shows.create("three-nights", { dates }, dated);
    await shows.publish(`${productId}:1`, `${productId}:2`);
    const { products } = await shop.storefront.ok(
      "GET",
      `/admin/products?id=${productId}&fields=variants.id,variants.title`,
    );
    const last = products[0].variants.find(({ title }: { title: string }) => title === "13 April A");
    await shop.storefront.ok("DELETE", `/admin/products/${productId}/variants/${last.id}`);
    const states = async () => (await shows.eventsOf(productId)).map(({ state }) => state);
    await expect.poll(states).toEqual(["published", "withdrawn"]);
    await shows.save(productId, { dates: [] });
    expect(await states()).toEqual(["withdrawn", "withdrawn"]);
    // A new date is another event, even with the same value.
    await shows.save(productId, { dates: [{ optionValue: "12 April", start: "2036-04-12T21:00:00" }] });
    expect((await shows.eventsOf(productId)).map(({ key }) => key)).toContain(`${productId}:3`);
  });
});

describe("a process that crashes", () => {
  test("after an event was sent leaves it to another process, which finds it at the issuer", {
    tags: "long",
  }, async () => {
    const productId = await shows.create("crash");
    shop.proxy.set("newevent", "hold", 1);
    const published = shows.publish(`${productId}:1`).catch(() => {});
    await expect.poll(() => stateOf(productId)).toBe("sending");
    await shop.crash();
    await published;
    // The service processes the call after the caller has crashed.
    await shop.proxy.release();
    const sentAt = async () =>
      (await database.query("select state, attempts from giftcard_event_delivery where key = $1", [`${productId}:1`]))
        .rows;
    expect(await sentAt()).toEqual([{ state: "sending", attempts: 1 }]);
    await shop.passTime(LEASE_MS);
    await expect.poll(sentAt, { interval: 200 }).toEqual([{ state: "delivered", attempts: 2 }]);
    expect(await shows.timesAtIssuer("crash")).toBe(1);
  });

  test("before an event was sent leaves it to another process, which sends it", { tags: "long" }, async () => {
    await shop.restart();
    const productId = await shows.create("crash-before");
    shop.proxy.set("newevent", "hold", 1);
    const published = shows.publish(`${productId}:1`).catch(() => {});
    await expect.poll(() => stateOf(productId)).toBe("sending");
    await shop.crash();
    await published;
    // The held call never arrives.
    shop.proxy.clear();
    await shop.passTime(LEASE_MS);
    const state = async () =>
      (await database.query("select state from giftcard_event_delivery where key = $1", [`${productId}:1`])).rows[0]
        .state;
    await expect.poll(state, { interval: 200 }).toBe("delivered");
    expect(await shows.timesAtIssuer("crash-before")).toBe(1);
  });
});
