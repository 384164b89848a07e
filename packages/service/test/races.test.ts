import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, credentials, eventInput, onCard, type WireAnswer } from "./wire.js";

let service: TestService;
let second: TestService;
let company: TestCompany;
let db: pg.Client;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-races-"));
const secretsFile = path.join(folder, "secrets.json");

afterAll(() => fs.rmSync(folder, { recursive: true }));

const callConcurrently = (count: number, one: (url: string, index: number) => Promise<WireAnswer>) =>
  Promise.all(Array.from({ length: count }, (_, index) => one(index % 2 ? service.url : second.url, index)));
const statuses = (answers: WireAnswer[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, (answer) => answer.status)].map(([status, those]) => [status, those.length]),
  );
const balanceOf = async (card: TestCard) => (await call(service.url, "balance", onCard(company, card))).body.balance;

// Several rounds, because in a single one a fast first caller may finish before the others start.
const ROUNDS = 10;

// READ COMMITTED is PostgreSQL's default. At the higher levels, conflicting transactions are rolled back and retried. At
// SERIALIZABLE, that is enough even for a database whose advisory locks do nothing.
const LEVELS = [
  { isolation: "read committed", locks: "with advisory locks", tags: [] },
  { isolation: "repeatable read", locks: "with advisory locks", tags: ["long"] },
  { isolation: "serializable", locks: "with advisory locks", tags: ["long"] },
  { isolation: "serializable", locks: "without advisory locks", tags: [] },
];
const NO_LOCKS = `
  create function public.pg_advisory_xact_lock(bigint) returns void language sql as '';
  create function public.pg_try_advisory_xact_lock(bigint) returns boolean language sql as 'select true';`;

for (const { isolation, locks, tags } of LEVELS)
  describe(`at ${isolation}, ${locks}`, { tags }, () => {
    // Two processes share one database: state that is kept in one process's memory would fail these tests.
    beforeAll(async () => {
      const databaseUrl = await testDatabase();
      db = new pg.Client({ connectionString: databaseUrl });
      await db.connect();
      const name = new URL(databaseUrl).pathname.slice(1);
      await db.query(`alter database ${name} set default_transaction_isolation = '${isolation}'`);
      if (locks === "without advisory locks") {
        // PostgreSQL finds these functions before its own.
        await db.query(`alter database ${name} set search_path = public, pg_catalog`);
        await db.query(NO_LOCKS);
      }
      // One company makes all calls, which must not be rate limited.
      const args = ["--calls-per-minute", "0"];
      service = await startGiftcardService({ databaseUrl, secretsFile, args });
      second = await startGiftcardService({ databaseUrl, secretsFile, args });
      company = await service.createCompany();
    });

    afterAll(async () => {
      await db.end();
      await service.stop();
      await second.stop();
      fs.rmSync(secretsFile);
    });

    test("the service uses this isolation level and these locks", async () => {
      const other = new pg.Client({ connectionString: service.databaseUrl });
      await other.connect();
      const { rows } = await other.query(
        `select current_setting('transaction_isolation') as isolation, pronamespace::regnamespace::text as locks
         from pg_proc where oid = 'pg_advisory_xact_lock(bigint)'::regprocedure`,
      );
      await other.end();
      const found = locks === "with advisory locks" ? "pg_catalog" : "public";
      expect(rows[0]).toEqual({ isolation, locks: found });
    });

    test("150 concurrent devalues take exactly the balance of a card", async () => {
      const card = await service.issueCard({ balanceCents: 100_000 });
      const wire = { ...onCard(company, card), amount: 1999 };
      const answers = await callConcurrently(150, (url) => call(url, "devalue", wire));
      const taken = answers.filter((answer) => answer.status === 200).map((answer) => answer.body.amount_deducted);
      // 50 devalues take the whole amount, one takes the last 50 cents, and the others find the card empty.
      expect(taken.filter((cents) => cents === 1999)).toHaveLength(50);
      expect(taken.filter((cents) => cents !== 1999)).toEqual([50]);
      expect(statuses(answers)).toEqual({ 200: 51, 400: 99 });
      expect(await balanceOf(card)).toBe(0);
      expect(new Set(answers.flatMap((answer) => answer.body.cancel_token ?? [])).size).toBe(51);
    });

    test("50 concurrent cancels with one token refund the money once", async () => {
      const card = await service.issueCard({ balanceCents: 8000 });
      for (let round = 0; round < ROUNDS; round++) {
        const { body } = await call(service.url, "devalue", { ...onCard(company, card), amount: 8000 });
        const wire = { ...credentials(company), cancel_token: body.cancel_token };
        const answers = await callConcurrently(50, (url) => call(url, "cancelDevalue", wire));
        expect(statuses(answers)).toEqual({ 200: 1, 409: 49 });
        expect(await balanceOf(card)).toBe(8000);
      }
    });

    test("12 concurrent devalues with one key take money once, and all get the same answer", async () => {
      const card = await service.issueCard({ balanceCents: 8000 });
      const wire = { ...onCard(company, card), amount: 700 };
      for (let round = 1; round <= ROUNDS; round++) {
        const headers = { "Idempotency-Key": `twelve-${round}` };
        const answers = await callConcurrently(12, (url) => call(url, "devalue", wire, { headers }));
        expect(statuses(answers)).toEqual({ 200: 12 });
        expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
        expect(answers.filter((answer) => answer.headers.get("idempotency-replayed") === null)).toHaveLength(1);
        expect(await balanceOf(card)).toBe(8000 - 700 * round);
      }
    });

    test("12 concurrent calls of newevent with one key create events once; with one event_key, a single call succeeds", async () => {
      const provider = await service.createProvider();
      const wire = { apikey: company.apiKey, events: [eventInput(provider.id)] };
      const same = await callConcurrently(12, (url) =>
        call(url, "createEvents", wire, { headers: { "Idempotency-Key": "twelve" } }),
      );
      expect(new Set(same.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
      const keyed = { apikey: company.apiKey, events: [eventInput(provider.id, { event_key: "raced" })] };
      const raced = await callConcurrently(12, (url) => call(url, "createEvents", keyed));
      expect(statuses(raced)).toEqual({ 200: 1, 422: 11 });
      const { body } = await call(service.url, "listEvents", { apikey: company.apiKey });
      expect(body).toHaveLength(2);
    });

    test("a devalue that races with its resolution by key is either reversed or never made, and the balance is unchanged", async () => {
      const card = await service.issueCard({ balanceCents: 8000 });
      for (let round = 0; round < 40; round++) {
        const headers = { "Idempotency-Key": `race-${round}` };
        const devalue = () => call(second.url, "devalue", { ...onCard(company, card), amount: 700 }, { headers });
        const resolveByKey = () => call(service.url, "cancelDevalue", credentials(company), { headers });
        const [first, other] = round % 2 ? [resolveByKey, devalue] : [devalue, resolveByKey];
        const started = [first(), other()];
        const [one, two] = (await Promise.all(started)) as [WireAnswer, WireAnswer];
        const [devalued, ended] = round % 2 ? [two, one] : [one, two];
        expect(["200/200", "409/404"]).toContain(`${devalued.status}/${ended.status}`);
        expect(await balanceOf(card)).toBe(8000);
      }
    });

    test("concurrent devalues and cancels of one card leave a balance that agrees with the ledger", async () => {
      const card = await service.issueCard({ balanceCents: 50_000 });
      await callConcurrently(60, async (url, index) => {
        const done = await call(url, "devalue", { ...onCard(company, card), amount: 100 + index });
        if (index % 3) return done;
        return call(url, "cancelDevalue", { ...credentials(company), cancel_token: done.body.cancel_token });
      });
      const kept = Array.from({ length: 60 }, (_, index) => (index % 3 ? 100 + index : 0)).reduce(
        (sum, cents) => sum + cents,
      );
      expect(await balanceOf(card)).toBe(50_000 - kept);
      const { rows } = await db.query(`select count(*)::int as off from cards c
    where balance_cents <> (select coalesce(sum(amount_cents), 0) from ledger l where l.card_id = c.id)`);
      expect(rows[0].off).toBe(0);
    });
  });
