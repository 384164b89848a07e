import type { EventState, ShopEvent } from "@giftcard-pay/events";
import { migrate, openPool } from "@giftcard-pay/service";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { pullFeed } from "../dist/feed/pull-feed.js";
import { createProvider } from "../dist/store/providers.js";
import { createOwnEvent, listedEvents, newCompany } from "./event-tables.js";
import { asJson, type FakeShop, feedOf, show, startFakeShop } from "./played-shop.js";

// After a pull, a company's events match the feed, whatever events it had before.
const act = { operator: "feeds", osUser: "feeds", reason: undefined };
/** A heap far smaller than Node's default. */
const MEMORY_MIB = 160;
let databaseUrl: string;
let pool: pg.Pool;
let shop: FakeShop;
let providerId: number;

beforeAll(async () => {
  databaseUrl = await testDatabase();
  pool = openPool(databaseUrl, () => {});
  await migrate(pool);
  providerId = (await createProvider(pool, "Kaartbureau", act)).id;
  shop = await startFakeShop();
  shop.trust();
});
afterAll(async () => {
  await shop.close();
  await pool.end();
});

const idsOf = async (companyId: number) => {
  const { rows } = await pool.query("select event_key, id from events where company_id = $1", [companyId]);
  return new Map<string, number>(rows.map((row) => [row.event_key, row.id]));
};

test("a pull applies 5,000 shows, then 500 edits and 50 withdrawals, with a small heap", { tags: "long" }, async () => {
  const companyId = await newCompany(pool);
  const shows = Array.from({ length: 5000 }, (_, index) =>
    show(`show-${index}`, { description: `Night ${index}. ${"Doors open at eight. ".repeat(40)}` }),
  );
  const pull = async (more: string[] = []) => {
    const words = ["events", "pull", "--company", String(companyId), ...more, "--json"];
    const { exitCode, stdout, stderr } = await runProgram(words, {
      ...shop.env,
      GIFTCARD_DATABASE_URL: databaseUrl,
      NODE_OPTIONS: `--max-old-space-size=${MEMORY_MIB}`,
    });
    expect([exitCode, stderr.replaceAll(/^\d+ (of \d+ )?(events|bytes of the feed)\n/gm, "")]).toEqual([0, ""]);
    return JSON.parse(stdout);
  };
  await shop.serveFeed(shows);
  const made = await pull(["--url", shop.url, "--allow-private"]);
  expect(made.created).toEqual(shows.map(({ key }) => key));
  expect((await listedEvents(pool, companyId)).map(({ title }) => title)).toEqual(shows.map(({ title }) => title));
  const ids = await idsOf(companyId);

  const edited = shows
    .map((one, index) => (index % 10 === 0 ? { ...one, title: `${one.title} (moved)` } : one))
    .filter((_, index) => index % 100 !== 55);
  await shop.serveFeed(edited);
  const report = await pull();
  expect([report.created.length, report.changed.length, report.withdrawn.length, report.unchanged]).toEqual([
    0, 500, 50, 4450,
  ]);
  expect((await listedEvents(pool, companyId)).map(({ title }) => title)).toEqual(edited.map(({ title }) => title));
  expect(await idsOf(companyId)).toEqual(ids);
  expect(await pull()).toMatchObject({ created: [], changed: [], withdrawn: [], unchanged: 4950 });
});

test("existing events use up no new ids, however often they are pulled or sent", async () => {
  const companyId = await newCompany(pool);
  await shop.serveFeed([show("a"), show("b")]);
  await pull(companyId, false);
  const own = { name: "Own", providerId };
  expect(await createOwnEvent(pool, companyId, { key: "own", ...own })).toBe(true);
  const lastId = async () => (await pool.query("select last_value::int as id from events_id_seq")).rows[0].id;
  const before = await lastId();
  for (let times = 0; times < 3; times++) {
    await pull(companyId, false);
    for (const key of ["a", "own"]) expect(await createOwnEvent(pool, companyId, { key, ...own })).toBe(false);
  }
  expect(await lastId()).toBe(before);
  await shop.serveFeed([show("a"), show("b"), show("c")]);
  await pull(companyId, false);
  expect((await idsOf(companyId)).get("c")).toBe(before + 1);
});

const keys = ["a", "b", "c", "d", "e"];
const event = fc.record({
  key: fc.constantFrom(...keys),
  state: fc.constantFrom<EventState[]>("published", "published", "canceled", "withdrawn"),
  title: fc.constantFrom("One", "Two", "Nacht 🌙"),
  end: fc.constantFrom(undefined, "2099-06-02", "2099-06-02T04:00:00"),
  genres: fc.constantFrom([], ["techno"], ["house", "techno"]),
  isProviderNamed: fc.boolean(),
  isPast: fc.boolean(),
});
const step = fc.record({
  events: fc.uniqueArray(event, { selector: ({ key }) => key, maxLength: keys.length }),
  isBroken: fc.boolean(),
  acceptsShrink: fc.boolean(),
  /** The keys of events that `newevent` creates before the pull. */
  own: fc.uniqueArray(fc.constantFrom(...keys, "own"), { maxLength: 3 }),
});

const showOf = ({ end, isProviderNamed, isPast, ...more }: typeof event extends fc.Arbitrary<infer E> ? E : never) =>
  show(more.key, {
    ...more,
    ...(isPast ? { start: "2020-06-01T20:30:00" } : end && { end }),
    ...(isProviderNamed && { providerId }),
  });

/** Runs the steps. Returns the last applied feed, and the key and title of each event that must be listed afterwards. */
async function runSteps(companyId: number, steps: (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) {
  const own = new Map<string, string>();
  let last: ShopEvent[] = [];
  for (const { events, isBroken, acceptsShrink, own: ownKeys } of steps) {
    for (const key of ownKeys) {
      const name = `Own ${key}`;
      if (await createOwnEvent(pool, companyId, { key, name, providerId })) own.set(key, name);
    }
    const [before, ids] = [await listedEvents(pool, companyId), await idsOf(companyId)];
    const shows = events.map(showOf);
    const text = await feedOf(shows);
    shop.answer = asJson(isBroken ? text.slice(0, -5) : text);
    const failure = await pull(companyId, acceptsShrink).then(
      () => undefined,
      (error: Error) => error,
    );
    if (failure) {
      expect(failure.message).toMatch(isBroken ? /is not JSON/ : /held for a person/);
      expect(await listedEvents(pool, companyId)).toEqual(before);
    } else {
      last = shows;
      for (const { key } of shows) own.delete(key);
    }
    expect([...(await idsOf(companyId))]).toEqual(expect.arrayContaining([...ids]));
  }
  const published = last.filter(({ state }) => state === "published");
  return { last, expected: [...published.map(({ key, title }): [string, string] => [key, title]), ...own] };
}

const pull = (companyId: number, acceptsShrink: boolean, db = pool) => {
  const address = { url: shop.url, allowsPrivate: true };
  return pullFeed(db, { companyId, address, timeoutMs: 60_000, acceptsShrink, isDryRun: false }, act);
};

test("the last applied feed is listed, whatever feeds came before, failed or were held, and each key keeps its id", {
  tags: "long",
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const companyId = await newCompany(pool);
      const { last, expected } = await runSteps(companyId, steps);
      const titles = (await listedEvents(pool, companyId)).map(({ title }) => title);
      expect(titles.sort()).toEqual(expected.map(([, title]) => title).sort());
      // Another pull of the same feed changes nothing.
      await shop.serveFeed(last);
      await pull(companyId, true);
      expect(await pull(companyId, false)).toMatchObject({ created: [], changed: [], withdrawn: [] });
      const again = await idsOf(companyId);
      for (const [key] of expected) expect(again.has(key)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test.each(["read committed", "serializable"])(
  "at %s, each of several concurrent pulls is applied completely or not at all, and newevent duplicates no key meanwhile",
  async (isolation) => {
    const url = await testDatabase();
    const name = new URL(url).pathname.slice(1);
    await pool.query(`alter database ${name} set default_transaction_isolation = '${isolation}'`);
    const db = openPool(url, () => {});
    await migrate(db);
    const provider = await createProvider(db, "Kaartbureau", act);
    const companyId = await newCompany(db);
    const many = Array.from({ length: 30 }, (_, index) => `k${index}`);
    shop.answer = async (request, response) => {
      const title = `Version ${shop.requests.length}`;
      await asJson(await feedOf(many.map((key) => show(key, { title }))))(request, response);
    };
    for (let round = 0; round < 10; round++) {
      const pulls = Promise.allSettled(Array.from({ length: 4 }, () => pull(companyId, false, db)));
      const own = many.map((key) => createOwnEvent(db, companyId, { key, name: "Own", providerId: provider.id }));
      const ended = await pulls;
      const created = await Promise.all(own);
      if (round > 0) expect(created).not.toContain(true);
      const refused = ended.flatMap((one) => (one.status === "rejected" ? [one.reason.exitCode] : []));
      expect(refused.length).toBeLessThan(4);
      expect(refused).toEqual(refused.map(() => 4));
      const titles = (await listedEvents(db, companyId)).map(({ title }) => title);
      expect(titles).toHaveLength(30);
      expect(new Set(titles).size).toBe(1);
      expect(titles[0]).toMatch(/^Version/);
    }
    await db.end();
  },
);
