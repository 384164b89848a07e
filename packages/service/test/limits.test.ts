import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorDefinition } from "@giftcard-pay/client/contract";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { basic, call, onCard, type WireAnswer } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-limits-"));
const FAILURES = 10;
let service: TestService;
let second: TestService;
let company: TestCompany;
let db: pg.Client;

// Two processes share one database: a count that is kept in one process's memory would fail these tests.
beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const secretsFile = path.join(folder, "secrets.json");
  const args = ["--calls-per-minute", "0", "--proxies", "1", "--slow-pin-failures", "0"];
  service = await startGiftcardService({ databaseUrl, secretsFile, args });
  second = await startGiftcardService({ databaseUrl, secretsFile, args });
  company = await service.createCompany();
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  await service.stop();
  await second.stop();
  fs.rmSync(folder, { recursive: true });
});

const urlOf = (index: number) => (index % 2 ? service.url : second.url);
const callConcurrently = (count: number, one: (url: string, index: number) => Promise<WireAnswer>) =>
  Promise.all(Array.from({ length: count }, (_, index) => one(urlOf(index), index)));
const count = (answers: WireAnswer[], status: number) => answers.filter((answer) => answer.status === status).length;
const balance = (card: TestCard, url = service.url) => call(url, "balance", onCard(company, card));
const wrong = (card: TestCard, index = 0): TestCard => ({ ...card, pin: `wrong-${index}` });
const unknown = (): TestCard => ({
  cardNumber: `0000${Math.random().toString().slice(2, 17)}`,
  pin: "123456",
  expiryDate: "",
});
const retryAfter = (answer: WireAnswer) => Number(answer.headers.get("retry-after"));
/** Moves all recorded failures this many seconds into the past. */
const moveIntoPast = (seconds: number) =>
  db.query(
    `update failed_attempts set locked_until = locked_until - make_interval(secs => $1),
       expires_at = expires_at - make_interval(secs => $1),
       failed_at = array(select t - make_interval(secs => $1) from unnest(failed_at) t)`,
    [seconds],
  );

describe("wrong PINs", () => {
  test("lock the number after ten, for 15 minutes, in every process, even for the right PIN; balance returns code 9", async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    for (let index = 0; index < FAILURES; index++) {
      const answer =
        index % 3
          ? await balance(wrong(card, index), urlOf(index))
          : await call(urlOf(index), "devalue", { ...onCard(company, wrong(card, index)), amount: 1 });
      expect(answer.status).toBe(400);
    }
    const { status, message, resultCode } = errorDefinition("card_locked");
    for (const guess of [wrong(card), card]) {
      for (const { url } of [service, second]) {
        const answer = await balance(guess, url);
        expect([answer.status, answer.body]).toEqual([status, { error: message, result_code: resultCode, message }]);
        expect(resultCode).toBe(9);
        expect(retryAfter(answer)).toBeGreaterThan(15 * 60 - 20);
        expect(retryAfter(answer)).toBeLessThanOrEqual(15 * 60);
        const devalued = await call(url, "devalue", { ...onCard(company, guess), amount: 1 });
        expect([devalued.status, devalued.body]).toEqual([status, { success: false, error: message }]);
        expect(retryAfter(devalued)).toBeGreaterThan(15 * 60 - 20);
      }
    }
    await moveIntoPast(15 * 60);
    expect((await balance(card)).body.balance).toBe(5000);
  });

  test("do not lock the number after nine, and do not count after 15 minutes", async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    for (let index = 0; index < FAILURES - 1; index++) await balance(wrong(card, index));
    expect((await balance(card)).status).toBe(200);
    await moveIntoPast(14 * 60);
    // The right PIN in between did not reset the count. One minute later, the nine are too old to count.
    await moveIntoPast(61);
    for (let index = 0; index < FAILURES - 1; index++) expect((await balance(wrong(card, index))).status).toBe(400);
    expect((await balance(card)).status).toBe(200);
    await balance(wrong(card));
    expect((await balance(card)).status).toBe(429);
  });

  test("double the time of each further lock, up to 24 hours, and begin at 15 minutes after a day without a lock", {
    tags: "long",
  }, async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    const lock = async () => {
      for (let index = 0; index < FAILURES; index++) expect((await balance(wrong(card, index))).status).toBe(400);
      return Math.ceil(retryAfter(await balance(card)) / 60);
    };
    const quarter = 15;
    for (const minutes of [1, 2, 4, 8, 16, 32, 64].map((times) => times * quarter)) {
      expect(await lock()).toBe(minutes);
      await moveIntoPast(minutes * 60);
    }
    expect(await lock()).toBe(24 * 60);
    await moveIntoPast(24 * 3600);
    expect(await lock()).toBe(24 * 60);
    await moveIntoPast(48 * 3600);
    expect(await lock()).toBe(quarter);
  });

  test("are counted and lock the number in the same way if the number is unknown", async () => {
    const card = unknown();
    const texts = new Set<string>();
    for (let index = 0; index < FAILURES; index++) {
      const answer = await balance(wrong(card, index), urlOf(index));
      expect(answer.status).toBe(400);
      texts.add(answer.text);
    }
    expect(texts.size).toBe(1);
    const answer = await balance(card);
    expect([answer.status, answer.body.result_code]).toEqual([429, 9]);
    expect(retryAfter(answer)).toBeGreaterThan(15 * 60 - 20);
  });

  test.each([
    ["a card", () => service.issueCard({ balanceCents: 5000 })],
    ["an unknown number", async () => unknown()],
  ])("are checked at most ten times if 100 guesses at %s are concurrent", async (_what, make) => {
    for (let round = 0; round < 3; round++) {
      const card = await make();
      const answers = await callConcurrently(100, (url, index) =>
        index % 2
          ? balance(wrong(card, index), url)
          : call(url, "devalue", { ...onCard(company, wrong(card, index)), amount: 1 }),
      );
      expect([count(answers, 400), count(answers, 429)]).toEqual([FAILURES, 100 - FAILURES]);
    }
  });

  const callsInFlight = async () => Number(/^giftcard_calls_in_flight (\d+)$/m.exec(await service.metrics())?.[1]);

  test("also block a right PIN that waits behind ten concurrent wrong ones", async () => {
    for (let round = 0; round < 5; round++) {
      const card = await service.issueCard({ balanceCents: 5000 });
      // The first guess waits for the table, and the others wait for the first.
      await db.query("begin");
      await db.query("lock table failed_attempts in access exclusive mode");
      const ten = Promise.all(Array.from({ length: FAILURES }, (_, index) => balance(wrong(card, index))));
      await expect.poll(callsInFlight).toBe(FAILURES);
      const right = balance(card);
      await expect.poll(callsInFlight).toBe(FAILURES + 1);
      await db.query("commit");
      expect(count(await ten, 400)).toBe(FAILURES);
      expect((await right).status).toBe(429);
    }
  });

  test("do not prevent the replay of a stored response while the card number is locked", async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    const headers = { "Idempotency-Key": "kept-then-locked" };
    const wire = { ...onCard(company, card), amount: 100 };
    const first = await call(service.url, "devalue", wire, { headers });
    await callConcurrently(FAILURES, (url, index) => balance(wrong(card, index), url));
    expect((await balance(card)).status).toBe(429);
    const again = await call(second.url, "devalue", wire, { headers });
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  test("are the only guesses that write to the database", async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    // This lock lets reads pass. Writes, and row locks before a write, wait until it is released.
    await db.query("begin");
    await db.query("lock table failed_attempts in exclusive mode");
    try {
      for (let index = 0; index < 5; index++) expect((await balance(card)).status).toBe(200);
      const guess = balance(wrong(card, 0));
      expect(await Promise.race([guess, sleep(300, "waits")])).toBe("waits");
      await db.query("commit");
      expect((await guess).status).toBe(400);
    } finally {
      await db.query("rollback");
    }
  });
});

describe("failed logins", () => {
  let address = 0;
  const from = () => `198.51.100.${++address}`;
  const login = (email: string, password: string, ip: string, url = service.url) =>
    call(url, "authenticate", {}, { headers: { ...basic(email, password), "X-Forwarded-For": ip } });

  test("for one account get 429 after ten, from any addresses, in every process; successful logins don't count", {
    tags: "long",
  }, async () => {
    const own = await service.createCompany();
    for (let index = 0; index < 3; index++) expect((await login(own.email, own.password, from())).status).toBe(200);
    for (let index = 0; index < FAILURES; index++) {
      const email = index % 2 ? own.email : own.email.toUpperCase();
      expect((await login(email, "wrong", from(), urlOf(index))).status).toBe(401);
    }
    for (const { url } of [service, second]) {
      const answer = await login(own.email, own.password, from(), url);
      expect([answer.status, answer.body]).toEqual([429, { error: errorDefinition("rate_limited").message }]);
      expect(retryAfter(answer)).toBeGreaterThan(15 * 60 - 60);
      expect(retryAfter(answer)).toBeLessThanOrEqual(15 * 60);
    }
    await moveIntoPast(15 * 60);
    expect((await login(own.email, own.password, from())).status).toBe(200);
  });

  test("from one address get 429 after ten, for any accounts; another address is not affected", {
    tags: "long",
  }, async () => {
    const own = await service.createCompany();
    const ip = from();
    const answers = await callConcurrently(FAILURES + 6, (url, index) =>
      login(`nobody-${index}@example.nl`, "wrong", ip, url),
    );
    expect([count(answers, 401), count(answers, 429)]).toEqual([FAILURES, 6]);
    expect((await login(own.email, own.password, ip)).status).toBe(429);
    // Entries that the caller writes before the proxy's own entry change nothing.
    expect((await login(own.email, own.password, `203.0.113.7, ${ip}`)).status).toBe(429);
    expect((await login(own.email, own.password, from())).status).toBe(200);
  });

  test("for an unknown email address are counted in the same way", { tags: "long" }, async () => {
    const email = "niemand@example.nl";
    for (let index = 0; index < FAILURES; index++) expect((await login(email, "x", from())).status).toBe(401);
    expect((await login(email, "x", from())).status).toBe(429);
  });

  test("from one IPv6 network are counted together, whatever the end of the address", { tags: "long" }, async () => {
    const answers: WireAnswer[] = [];
    for (let index = 0; index < FAILURES + 1; index++)
      answers.push(await login(`six-${index}@example.nl`, "x", `2001:db8::${index}:1`));
    expect(answers.map((answer) => answer.status)).toEqual([...Array(FAILURES).fill(401), 429]);
    expect((await login("six@example.nl", "x", "2001:db8:0:1::1")).status).toBe(401);
  });
});

describe("calls of a key", () => {
  const LIMIT = 100;
  let limited: TestService;
  let other: TestService;

  beforeAll(async () => {
    const args = ["--calls-per-minute", String(LIMIT)];
    const secretsFile = path.join(folder, "secrets.json");
    limited = await startGiftcardService({ databaseUrl: service.databaseUrl, secretsFile, args });
    other = await startGiftcardService({ databaseUrl: service.databaseUrl, secretsFile, args });
  });

  afterAll(async () => {
    await limited.stop();
    await other.stop();
  });

  const list = (own: TestCompany, url: string) => call(url, "listEvents", { apikey: own.apiKey });

  test("above the limit get 429 with Retry-After, counted across all processes; another key is not affected", async () => {
    const [own, another] = [await service.createCompany(), await service.createCompany()];
    const answers: WireAnswer[] = [];
    const startedAt = performance.now();
    for (let round = 0; round < 8; round++) {
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 20 }, (_, index) => list(own, index % 2 ? limited.url : other.url)),
        )),
      );
    }
    const passed = count(answers, 200);
    // Each process may hold an unused lease of a fiftieth of the limit. At most 5 % more calls than the limit pass.
    expect(passed).toBeGreaterThanOrEqual(LIMIT - 4);
    const allowed = LIMIT * (1 + (performance.now() - startedAt) / 60_000);
    expect(passed).toBeLessThanOrEqual(allowed * 1.05);
    const refused = answers.filter((answer) => answer.status !== 200);
    expect(new Set(refused.map((answer) => answer.text))).toEqual(
      new Set([JSON.stringify({ error: errorDefinition("rate_limited").message })]),
    );
    for (const answer of refused) {
      expect(retryAfter(answer)).toBeGreaterThanOrEqual(1);
      expect(retryAfter(answer)).toBeLessThanOrEqual(60);
    }
    expect((await list(another, limited.url)).status).toBe(200);
    // An invalid key is refused as unauthorized, not as rate limited.
    expect((await call(limited.url, "listEvents", { apikey: "nobody's" })).status).toBe(401);

    // A minute later, calls are allowed again.
    await db.query("update call_usage set slot = slot - 30");
    await sleep(2100);
    expect((await list(own, limited.url)).status).toBe(200);
  });

  test("need few writes: they are leased in blocks, and unused ones are returned", {
    tags: "long",
  }, async () => {
    const own = await service.createCompany();
    await list(own, limited.url);
    await sleep(2100);
    await list(own, limited.url);
    const { rows } = await db.query(
      "select granted from call_usage u join api_keys k on u.kind = 'key' and u.id = k.id where k.company_id = $1",
      [own.companyId],
    );
    // One call of the first slot was used. Of the newest slot, a block is leased.
    const [newest, ...older] = rows[0].granted as number[];
    expect(newest).toBe(LIMIT / 50);
    expect(older.reduce((sum, calls) => sum + calls, 0)).toBe(1);
  });

  test("are allowed immediately if the database's clock moves back, and their count stays correct", {
    tags: "long",
  }, async () => {
    const own = await service.createCompany();
    const usage = async () => {
      const { rows } = await db.query(
        "select slot, granted from call_usage u join api_keys k on u.kind = 'key' and u.id = k.id where k.company_id = $1",
        [own.companyId],
      );
      return rows[0] as { slot: string; granted: number[] };
    };
    let status = 200;
    while (status === 200) status = (await list(own, limited.url)).status;
    expect(status).toBe(429);
    // This has the same effect as a clock that moves back: all counted calls are five minutes ahead of it.
    await db.query("update call_usage set slot = slot + 150");
    const ahead = (await usage()).slot;
    await expect.poll(async () => (await list(own, limited.url)).status).toBe(200);
    const { slot, granted } = await usage();
    expect(Number(slot)).toBeLessThan(Number(ahead) - 100);
    expect([granted.length, granted.slice(1)]).toEqual([30, Array(29).fill(0)]);
    // A lease from before the clock moved back is not returned.
    await db.query("update call_usage set slot = slot + 150");
    await sleep(2100);
    expect((await list(own, limited.url)).status).toBe(200);
    expect((await usage()).granted).toEqual([LIMIT / 50, ...Array(29).fill(0)]);
  });
});
