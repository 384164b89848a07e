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

// Two processes on one database, so that no count can stand in the memory of one.
beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const secretsFile = path.join(folder, "secrets.json");
  const args = ["--calls-per-minute", "0", "--proxies", "1"];
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

const either = (index: number) => (index % 2 ? service.url : second.url);
const atOnce = (count: number, one: (url: string, index: number) => Promise<WireAnswer>) =>
  Promise.all(Array.from({ length: count }, (_, index) => one(either(index), index)));
const count = (answers: WireAnswer[], status: number) => answers.filter((answer) => answer.status === status).length;
const balance = (card: TestCard, url = service.url) => call(url, "balance", onCard(company, card));
const wrong = (card: TestCard, index = 0): TestCard => ({ ...card, pin: `wrong-${index}` });
const unknown = (): TestCard => ({
  cardNumber: `0000${Math.random().toString().slice(2, 17)}`,
  pin: "123456",
  expiryDate: "",
});
const retryAfter = (answer: WireAnswer) => Number(answer.headers.get("retry-after"));
/** Lets time pass for what is counted: everything that was noted lies so much further back. */
const pass = (seconds: number) =>
  db.query(
    `update failed_attempts set locked_until = locked_until - make_interval(secs => $1),
       expires_at = expires_at - make_interval(secs => $1),
       failed_at = array(select t - make_interval(secs => $1) from unnest(failed_at) t)`,
    [seconds],
  );

describe("wrong PINs", () => {
  test("ten lock the number for 15 minutes, in every process, also for the right PIN; balance says 9", async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    for (let index = 0; index < FAILURES; index++) {
      const answer =
        index % 3
          ? await balance(wrong(card, index), either(index))
          : await call(either(index), "devalue", { ...onCard(company, wrong(card, index)), amount: 1 });
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
    await pass(15 * 60);
    expect((await balance(card)).body.balance).toBe(5000);
  });

  test("nine do not, and those of more than 15 minutes ago don't count", async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    for (let index = 0; index < FAILURES - 1; index++) await balance(wrong(card, index));
    expect((await balance(card)).status).toBe(200);
    await pass(14 * 60);
    // The right PIN in between forgives nothing; one minute later the nine are too old.
    await pass(61);
    for (let index = 0; index < FAILURES - 1; index++) expect((await balance(wrong(card, index))).status).toBe(400);
    expect((await balance(card)).status).toBe(200);
    await balance(wrong(card));
    expect((await balance(card)).status).toBe(429);
  });

  test("each further lock doubles, up to 24 hours, and after a day without one it begins anew", {
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
      await pass(minutes * 60);
    }
    expect(await lock()).toBe(24 * 60);
    await pass(24 * 3600);
    expect(await lock()).toBe(24 * 60);
    await pass(48 * 3600);
    expect(await lock()).toBe(quarter);
  });

  test("an unknown number is counted and locked the same way", async () => {
    const card = unknown();
    const texts = new Set<string>();
    for (let index = 0; index < FAILURES; index++) {
      const answer = await balance(wrong(card, index), either(index));
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
  ])("of 100 guesses at once at %s no more than ten are judged", async (_what, make) => {
    for (let round = 0; round < 3; round++) {
      const card = await make();
      const answers = await atOnce(100, (url, index) =>
        index % 2
          ? balance(wrong(card, index), url)
          : call(url, "devalue", { ...onCard(company, wrong(card, index)), amount: 1 }),
      );
      expect([count(answers, 400), count(answers, 429)]).toEqual([FAILURES, 100 - FAILURES]);
    }
  });

  /** Guesses that wait for another one at the same number. */
  const waiting = async () =>
    (
      await db.query(
        `select count(*)::int as n from pg_locks where not granted and locktype = 'advisory' and database =
           (select oid from pg_database where datname = current_database())`,
      )
    ).rows[0].n;

  test("a right guess behind ten wrong ones at once is not judged either", async () => {
    for (let round = 0; round < 5; round++) {
      const card = await service.issueCard({ balanceCents: 5000 });
      // Held until all wait for the number, in the order in which they came.
      await db.query("begin");
      await db.query("lock table failed_attempts in access exclusive mode");
      const ten = atOnce(FAILURES, (url, index) => balance(wrong(card, index), url));
      // The first of them waits for the table.
      await expect.poll(waiting).toBe(FAILURES - 1);
      const right = balance(card);
      await expect.poll(waiting).toBe(FAILURES);
      await db.query("commit");
      expect(count(await ten, 400)).toBe(FAILURES);
      expect((await right).status).toBe(429);
    }
  });

  test("a stored response is replayed while the card number is locked", async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    const headers = { "Idempotency-Key": "kept-then-locked" };
    const wire = { ...onCard(company, card), amount: 100 };
    const first = await call(service.url, "devalue", wire, { headers });
    await atOnce(FAILURES, (url, index) => balance(wrong(card, index), url));
    expect((await balance(card)).status).toBe(429);
    const again = await call(second.url, "devalue", wire, { headers });
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  test("the right PIN writes nothing for it", async () => {
    const card = await service.issueCard({ balanceCents: 5000 });
    // Who only reads passes this lock; a write, or a row locked to be written, waits for its end.
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

  test("ten for one account, from wherever, make the next 429 in every process; right ones don't count", async () => {
    const own = await service.createCompany();
    for (let index = 0; index < 3; index++) expect((await login(own.email, own.password, from())).status).toBe(200);
    for (let index = 0; index < FAILURES; index++) {
      const email = index % 2 ? own.email : own.email.toUpperCase();
      expect((await login(email, "wrong", from(), either(index))).status).toBe(401);
    }
    for (const { url } of [service, second]) {
      const answer = await login(own.email, own.password, from(), url);
      expect([answer.status, answer.body]).toEqual([429, { error: errorDefinition("rate_limited").message }]);
      expect(retryAfter(answer)).toBeGreaterThan(15 * 60 - 60);
      expect(retryAfter(answer)).toBeLessThanOrEqual(15 * 60);
    }
    await pass(15 * 60);
    expect((await login(own.email, own.password, from())).status).toBe(200);
  });

  test("ten from one address, for whatever accounts, make the next 429; another address is free", {
    tags: "long",
  }, async () => {
    const own = await service.createCompany();
    const ip = from();
    const answers = await atOnce(FAILURES + 6, (url, index) => login(`nobody-${index}@example.nl`, "wrong", ip, url));
    expect([count(answers, 401), count(answers, 429)]).toEqual([FAILURES, 6]);
    expect((await login(own.email, own.password, ip)).status).toBe(429);
    // What the caller writes before the proxy's own entry changes nothing.
    expect((await login(own.email, own.password, `203.0.113.7, ${ip}`)).status).toBe(429);
    expect((await login(own.email, own.password, from())).status).toBe(200);
  });

  test("an email that nobody has is counted as one", { tags: "long" }, async () => {
    const email = "niemand@example.nl";
    for (let index = 0; index < FAILURES; index++) expect((await login(email, "x", from())).status).toBe(401);
    expect((await login(email, "x", from())).status).toBe(429);
  });

  test("whoever changes the end of an IPv6 address is still the same", { tags: "long" }, async () => {
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

  test("past the limit are 429 with Retry-After, in all processes together; another key is free", async () => {
    const [own, free] = [await service.createCompany(), await service.createCompany()];
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
    // Each process may hold a fiftieth that it does not use, and at most 5 % more than the limit pass.
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
    expect((await list(free, limited.url)).status).toBe(200);
    // A refused key can be one that is not valid, and that comes first.
    expect((await call(limited.url, "listEvents", { apikey: "nobody's" })).status).toBe(401);

    // A minute later it is free again.
    await db.query("update call_usage set slot = slot - 30");
    await sleep(2100);
    expect((await list(own, limited.url)).status).toBe(200);
  });

  test("cost few writes: a block of them is granted at once, and what is not used goes back", {
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
    // One call of the first slot was used, of the newest a block is out.
    const [newest, ...older] = rows[0].granted as number[];
    expect(newest).toBe(LIMIT / 50);
    expect(older.reduce((sum, calls) => sum + calls, 0)).toBe(1);
  });

  test("cost a key nothing when the database's clock goes back: it is granted calls at once, and its count stays whole", async () => {
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
    // Seen from the new time, all that was counted lies five minutes ahead.
    await db.query("update call_usage set slot = slot + 150");
    const ahead = (await usage()).slot;
    await expect.poll(async () => (await list(own, limited.url)).status).toBe(200);
    const { slot, granted } = await usage();
    expect(Number(slot)).toBeLessThan(Number(ahead) - 100);
    expect([granted.length, granted.slice(1)]).toEqual([30, Array(29).fill(0)]);
    // What a process holds from before the clock went back is given back to nobody.
    await db.query("update call_usage set slot = slot + 150");
    await sleep(2100);
    expect((await list(own, limited.url)).status).toBe(200);
    expect((await usage()).granted).toEqual([LIMIT / 50, ...Array(29).fill(0)]);
  });
});
