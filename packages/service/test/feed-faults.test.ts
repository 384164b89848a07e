import dns from "node:dns";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { migrate, openPool } from "@giftcard-pay/service";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import type { FeedFailure } from "../dist/feed/feed-failure.js";
import { type FeedRequest, fetchFeed } from "../dist/feed/fetch-feed.js";
import { type PullOrder, pullFeed } from "../dist/feed/pull-feed.js";
import { createProvider } from "../dist/store/providers.js";
import { listedEvents, newCompany } from "./event-tables.js";
import { type Answer, asJson, type FakeShop, feedOf, show, startFakeShop } from "./played-shop.js";

// A pull applies the whole feed, or changes nothing and reports the reason, whatever the shop's server does.
const act = { operator: "faults", osUser: "faults", reason: undefined };
const MIB = 1024 * 1024;
let pool: pg.Pool;
let shop: FakeShop;
let companyId: number;
let before: unknown;

beforeAll(async () => {
  pool = openPool(await testDatabase(), () => {});
  await migrate(pool);
  await createProvider(pool, "Kaartbureau", act);
  shop = await startFakeShop();
  shop.trust();
});
afterAll(async () => {
  await shop.close();
  await pool.end();
});

const listed = () => listedEvents(pool, companyId);
const pull = (more: Partial<PullOrder> = {}) =>
  pullFeed(
    pool,
    {
      companyId,
      address: { url: shop.url, allowsPrivate: true },
      timeoutMs: 60_000,
      acceptsShrink: false,
      isDryRun: false,
      ...more,
    },
    act,
  );
const failureOf = (work: Promise<unknown>): Promise<FeedFailure> =>
  work.then(
    (value) => expect.fail(`The pull succeeded: ${JSON.stringify(value)}`),
    (error) => error,
  );

beforeEach(async () => {
  companyId = await newCompany(pool);
  await shop.serveFeed([show("a"), show("b")]);
  await pull();
  before = await listed();
  expect(before).toHaveLength(2);
  shop.requests.splice(0);
});

const text = JSON.stringify({ events: [] });
const plain =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end("no");
const half: Answer = async (_request, response) => {
  const whole = await feedOf([show("c")]);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": String(whole.length) });
  response.write(whole.slice(0, whole.length / 2), () => response.destroy());
};
const halfCompressed: Answer = async (request, response) => {
  const whole = gzipSync(await feedOf([show("c")]));
  await asJson(whole.subarray(0, whole.length / 2), { "Content-Encoding": "gzip" })(request, response);
};
const bomb = (compress: (raw: Buffer) => Buffer, encoding: string): Answer =>
  asJson(compress(Buffer.alloc(200 * MIB, " ")), { "Content-Encoding": encoding });

describe("nothing is changed, and the reason is reported, if", () => {
  test.each<[string, Answer, RegExp]>([
    ["the answer is lost", (_request, response) => void response.destroy(), /is incomplete/],
    ["only half of the answer arrives", half, /is incomplete/],
    ["only half of a compressed answer arrives", halfCompressed, /is incomplete, or is not compressed/],
    [
      "the answer is not compressed as it says",
      asJson(text, { "Content-Encoding": "br" }),
      /not compressed as its Content-Encoding says/,
    ],
    ["the compression is not supported", asJson(text, { "Content-Encoding": "zstd" }), /Content-Encoding/],
    ["the decompressed gzip is too large", bomb((raw) => gzipSync(raw), "gzip"), /larger than 32 MiB/],
    ["the decompressed brotli is too large", bomb((raw) => brotliCompressSync(raw), "br"), /larger than 32 MiB/],
    ["the server answers 500", plain(500), /answer 500 from 127\.0\.0\.1/],
    ["the server answers 404", plain(404), /answer 404/],
    ["the server answers 304 to a request without validators", plain(304), /answer 304/],
    ["the answer is HTML", asJson(text, { "Content-Type": "text/html" }), /Content-Type/],
    ["the charset is Latin-1", asJson(text, { "Content-Type": "application/json; charset=latin1" }), /UTF-8/],
    ["the bytes are not UTF-8", asJson(Buffer.from([0x7b, 0xff, 0x7d])), /is not UTF-8/],
    ["the text is not JSON", asJson("<html>"), /is not JSON/],
    ["the answer is empty", asJson(""), /is not JSON/],
    ["the JSON is not a feed", asJson("[]"), /events: must be an array/],
    ["the JSON is null", asJson("null"), /events: must be an array/],
    ["the feed has too many events", asJson(`{"events":[${"{},".repeat(20_000)}{}]}`), /20001 events/],
    ["the answer consists only of brackets", asJson("[".repeat(2 * MIB)), /more than 1000000 values/],
    ["the server redirects to ftp", plain(302, { Location: "ftp://127.0.0.1/" }), /without https/],
    [
      "the server redirects to an address with a password",
      plain(307, { Location: "https://a:b@127.0.0.1/" }),
      /with a password/,
    ],
    ["the server redirects endlessly", plain(301, { Location: "/again" }), /more than 5 times/],
  ])("%s", async (_name, answer, message) => {
    shop.answer = answer;
    const failure = await failureOf(pull());
    expect(failure.message).toMatch(message);
    expect(failure.message).toMatch(/^Nothing was changed: the feed /);
    expect(failure.exitCode).toBe(1);
    expect(await listed()).toEqual(before);
    // The next valid feed is applied.
    await shop.serveFeed([show("a"), show("b"), show("c")]);
    expect(await pull()).toMatchObject({ created: ["c"] });
  });

  test("the answer takes too long, including redirects", async () => {
    const open = new Set<ServerResponse>();
    shop.answer = (request, response) => {
      if (request.url === "/feed.json") return void response.writeHead(302, { Location: "/slow" }).end();
      open.add(response.writeHead(200, { "Content-Type": "application/json" }));
      const drip = setInterval(() => response.write(" "), 20);
      response.once("close", () => clearInterval(drip));
    };
    const failure = await failureOf(pull({ timeoutMs: 1000 }));
    expect(failure.message).toMatch(/did not arrive completely within 1 seconds/);
    expect(await listed()).toEqual(before);
    // Nothing continues in the background: the server's connection is closed.
    for (const response of open) if (!response.closed) await once(response, "close");
  });

  test("the pull is aborted", async () => {
    const ending = new AbortController();
    shop.answer = () => ending.abort();
    await expect(pull({ signal: ending.signal })).rejects.toMatchObject({ name: "AbortError" });
    expect(await listed()).toEqual(before);
  });
});

test("a failed pull reports the server's Retry-After, given in seconds or as a date", async () => {
  const retryAfterOf = async (status: number, retryAfter: string) => {
    shop.answer = plain(status, { "Retry-After": retryAfter });
    return (await failureOf(pull())).retryAfterSeconds;
  };
  expect(await retryAfterOf(429, "120")).toBe(120);
  expect(await retryAfterOf(503, "9999999")).toBe(86_400);
  expect(await retryAfterOf(503, "soon")).toBeUndefined();
  expect(await retryAfterOf(500, "120")).toBeUndefined();
  const at = await retryAfterOf(503, new Date(Date.now() + 600_000).toUTCString());
  expect(at).toBeGreaterThan(500);
  expect(at).toBeLessThanOrEqual(600);
});

describe("a faulty feed", () => {
  const items = async (count: number) =>
    JSON.parse(await feedOf(Array.from({ length: count }, (_, index) => show(`n${index}`)))).events;
  const send = (events: unknown[]) => void (shop.answer = asJson(JSON.stringify({ events })));

  test("is rejected if one event of 5,000 is invalid, and the error names that event", async () => {
    const events = await items(5000);
    events[4321].date = "2099-02-30";
    send(events);
    const failure = await failureOf(pull());
    expect(failure.message).toBe(
      "Nothing was changed: the feed has 1 fault:\n  event 4322, date: must be a date, yyyy-mm-dd",
    );
    expect(failure.details).toEqual({
      fault_count: 1,
      faults: [{ event: 4322, field: "date", message: "must be a date, yyyy-mm-dd" }],
    });
    expect(await listed()).toEqual(before);
  });

  test("cannot fill the database with new keys; changes of existing events are still applied", async () => {
    await pool.query(
      `insert into events (company_id, from_feed, event_key, taken_back, name, organiser, start_date, start_time, ticket_link)
         select $1, true, 'old-' || n, 'withdrawn', 'Old', 'Zaal BV', '2020-01-01', '20:00', 'https://tickets.example.nl/'
           from generate_series(1, 99998) n`,
      [companyId],
    );
    await shop.serveFeed([show("a"), show("b"), show("one-more")]);
    expect((await failureOf(pull())).message).toMatch(/has 1 new events.*makes 100001, more than the 100000/);
    expect(await listed()).toEqual(before);
    await shop.serveFeed([show("a", { title: "Later" }), show("b")]);
    expect((await pull()).changed).toEqual(["a"]);
  });

  test("is reported with every fault, by the feed's own field names, up to a limit", async () => {
    const [one, two, three, four, five, six, seven, eight] = await items(8);
    send([
      one,
      { ...two, event_id: "n0" },
      { ...three, description: "x".repeat(70_000) },
      { ...four, eventprovider_id: 99 },
      { ...five, title: "\ud83c", ticket_link: "javascript:alert(1)" },
      { ...six, state: "gone", title: undefined },
      7,
      { ...seven, timezone: "IST" },
      { ...eight, date: "0000-01-01" },
    ]);
    const { details } = await failureOf(pull());
    expect(details.faults).toEqual([
      { event: 2, field: "event_id", message: "is also the key of row 1" },
      { event: 3, field: "description", message: "must have at most 20000 characters" },
      { event: 4, field: "eventprovider_id", message: "is not a provider of get_providers" },
      { event: 5, field: "title", message: "must be UTF-8 text" },
      { event: 5, field: "ticket_link", message: "must be an http or https address" },
      expect.objectContaining({ event: 6 }),
      expect.objectContaining({ event: 6 }),
      { event: 7, field: "", message: "must be an object" },
      { event: 8, field: "timezone", message: "must name a time zone, such as Europe/Amsterdam" },
      { event: 9, field: "date", message: "must be a date, yyyy-mm-dd" },
    ]);
    send(Array.from({ length: 500 }, () => ({})));
    const many = await failureOf(pull());
    expect(many.details).toMatchObject({ faults: expect.objectContaining({ length: 100 }) });
    expect(many.message).toMatch(/and \d+ more$/);
    expect(await listed()).toEqual(before);
  });
});

test("all valid content is stored unchanged: emoji, long texts, a byte order mark, past events, in any encoding", async () => {
  const description = `🎉 ${"é".repeat(19_000)} 👩🏽‍🎤`;
  const all = [
    show("a"),
    show("b", { title: "Nacht 🌙", description, priceFromCents: 2450 as never, providerId: 1 }),
    show("c", { start: "2020-01-01T20:00:00", end: "2020-01-02" }),
  ];
  const whole = Buffer.from(`\ufeff${await feedOf(all)}`);
  const list = async () => {
    await pull();
    return (await listed()).map(({ title, description, date, endDate }) => [title, description, date, endDate]);
  };
  const expected = [
    ["Show a", "", "2099-06-01", null],
    ["Nacht 🌙", description, "2099-06-01", null],
    ["Show c", "", "2020-01-01", "2020-01-02"],
  ];
  shop.answer = asJson(gzipSync(whole), { "Content-Encoding": "gzip" });
  expect(await list()).toEqual(expected);
  companyId = await newCompany(pool);
  shop.answer = asJson(brotliCompressSync(whole), {
    "Content-Encoding": "br",
    "Content-Type": 'application/ld+json; charset="UTF-8"',
  });
  expect(await list()).toEqual(expected);
  expect(shop.requests.at(-1)?.headers["accept-encoding"]).toBe("gzip, br");
});

describe("an unchanged feed", () => {
  const tagged = async (keys: string[], headers: Record<string, string>) => {
    const body = await feedOf(keys.map((key) => show(key)));
    shop.answer = (request, response) => {
      const { "if-none-match": match, "if-modified-since": since } = request.headers;
      if (match === headers.ETag && since === headers["Last-Modified"]) response.writeHead(304).end();
      else response.writeHead(200, { "Content-Type": "application/json", ...headers }).end(body);
    };
  };

  test("is requested with its validators, and not transferred again", async () => {
    const headers = { ETag: '"one"', "Last-Modified": "Sat, 01 Jan 2028 10:00:00 GMT" };
    await tagged(["a", "b", "c"], headers);
    expect(await pull()).toMatchObject({ isModified: true, created: ["c"] });
    // Caches in between must revalidate with the shop.
    expect(shop.requests.at(-1)?.headers["cache-control"]).toBe("no-cache");
    expect(await pull()).toMatchObject({ isModified: false, created: [], unchanged: 0 });
    await tagged(["a", "b", "c", "d"], { ...headers, ETag: '"two"' });
    expect(await pull()).toMatchObject({ isModified: true, created: ["d"], unchanged: 3 });
  });

  test("is requested without the validators of a pull that failed, was held, or was a dry run", async () => {
    await tagged(["a", "b", "c"], { ETag: '"new"' });
    expect(await pull({ isDryRun: true })).toMatchObject({ created: ["c"] });
    expect(await listed()).toEqual(before);
    expect(await pull()).toMatchObject({ isModified: true, created: ["c"] });
    await tagged([], { ETag: '"none"' });
    expect((await failureOf(pull())).exitCode).toBe(8);
    expect(await pull({ acceptsShrink: true })).toMatchObject({ withdrawn: ["a", "b", "c"] });
  });

  test("is requested without validators at another address", async () => {
    await tagged(["a", "b", "c"], { ETag: '"1"' });
    await pull();
    const answerBefore = shop.answer;
    const moved = await feedOf([show("a"), show("b"), show("z")]);
    shop.answer = (request, response) => {
      if (request.url === "/feed.json") response.writeHead(308, { Location: "/moved.json" }).end();
      else if (request.headers["if-none-match"] === '"1"') response.writeHead(304).end();
      else void asJson(moved, { ETag: '"1"' })(request, response);
    };
    expect(await pull()).toMatchObject({ created: ["z"], withdrawn: ["c"] });
    expect(await pull()).toMatchObject({ isModified: false });
    shop.answer = answerBefore;
    expect(await pull()).toMatchObject({ created: [], changed: ["c"], withdrawn: ["z"] });
  });
});

describe("the address of a feed", () => {
  const port = () => new URL(shop.url).port;
  /** Treats only the shop's own address as public. */
  const shopAlone = (address: string) => address === "127.0.0.1";
  const fetched = (more: Partial<FeedRequest>) =>
    fetchFeed({
      ...{ url: shop.url, allows: shopAlone, allowsHttp: false, validators: undefined, timeoutMs: 10_000 },
      ...more,
    });

  test.each([
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://localhost/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://10.0.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fe80::1]/",
    "https://[fd00:ec2::254]/",
  ])("is refused if it is private: %s", async (url) => {
    const failure = await failureOf(pull({ address: { url, allowsPrivate: false } }));
    expect(failure.message).toMatch(/not on the public Internet\. --allow-private allows it/);
  });

  test.each(["https://127.0.0.2:PORT/", "https://[::1]:PORT/", "https://[::ffff:127.0.0.1]:PORT/"])(
    "is refused if a redirect leads to a private one: %s",
    async (target) => {
      shop.answer = plain(302, { Location: target.replace("PORT", port()) });
      expect((await failureOf(fetched({}))).message).toMatch(/not on the public Internet/);
      expect(shop.requests).toHaveLength(1);
    },
  );

  test.each(["http://169.254.169.254/latest/", "https://169.254.169.254/", "https://[fe80::1]/"])(
    "is refused if a cloud gives its machines their keys there, even with --allow-private: %s",
    async (target) => {
      shop.answer = plain(302, { Location: target });
      expect((await failureOf(pull())).message).toMatch(
        /(an address at which clouds give machines their keys|no feed is fetched by http)/,
      );
      expect(shop.requests).toHaveLength(1);
    },
  );

  test("is refused over http unless it is private and allowed, at first or after a redirect", async () => {
    const away = "http://198.41.0.4/";
    shop.answer = plain(302, { Location: away });
    const failures = [
      await failureOf(pull({ address: { url: "http://127.0.0.1/", allowsPrivate: false } })),
      await failureOf(fetched({})),
      // Even with --allow-private, http is not allowed to public addresses.
      await failureOf(pull({ address: { url: away, allowsPrivate: true } })),
      await failureOf(pull()),
    ];
    expect(failures.map(({ message }) => message)).toEqual([
      expect.stringMatching(/without https/),
      expect.stringMatching(/without https/),
      expect.stringMatching(/from which no feed is fetched by http/),
      expect.stringMatching(/from which no feed is fetched by http/),
    ]);
  });

  test("is resolved once: a later DNS answer changes nothing", async () => {
    const url = shop.url.replace("127.0.0.1", "localhost");
    const resolveTo = (...addresses: string[]) =>
      vi.spyOn(dns, "lookup").mockImplementationOnce(((_name: string, _options: object, found: Found) =>
        found(
          null,
          addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        )) as never);
    type Found = (error: null, addresses: { address: string; family: number }[]) => void;
    try {
      // The name is public at the check, and is not resolved again for the connection.
      const first = resolveTo("127.0.0.1");
      await fetched({ url });
      expect(first).toHaveBeenCalledTimes(1);
      first.mockClear();
      // Of several addresses, the public one is used.
      resolveTo("10.0.0.1", "::1", "127.0.0.1", "169.254.169.254");
      await fetched({ url });
      expect(first).toHaveBeenCalledTimes(1);
      resolveTo("127.0.0.2", "::1");
      expect((await failureOf(fetched({ url }))).message).toMatch(/not on the public Internet/);
    } finally {
      vi.restoreAllMocks();
    }
    expect(shop.requests).toHaveLength(2);
  });

  test("is reported if its name is unknown or its certificate is not trusted", async () => {
    const nobody = await failureOf(pull({ address: { url: "https://nobody.invalid/", allowsPrivate: false } }));
    expect(nobody.message).toMatch(/nobody\.invalid, an unknown name/);
    const stranger = await startFakeShop();
    const untrusted = await failureOf(pull({ address: { url: stranger.url, allowsPrivate: true } }));
    await stranger.close();
    expect(untrusted.message).toMatch(/whose certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
    expect(stranger.requests).toEqual([]);
  });
});

test("a feed keeps the reason of its last failure until a pull succeeds", async () => {
  const lastFailure = async () =>
    (await pool.query("select failure, failed_at from event_feeds where company_id = $1", [companyId])).rows[0];
  expect(await lastFailure()).toEqual({ failure: null, failed_at: null });
  shop.answer = plain(500);
  await failureOf(pull({ isDryRun: true }));
  expect((await lastFailure()).failure).toBeNull();
  await failureOf(pull());
  expect(await lastFailure()).toEqual({
    failure: expect.stringMatching(/answer 500/),
    failed_at: expect.any(Date),
  });
  await shop.serveFeed([show("a"), show("b")]);
  await pull();
  expect(await lastFailure()).toEqual({ failure: null, failed_at: null });
});
