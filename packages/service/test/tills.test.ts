import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ServeProcess,
  spawnServe,
  startGiftcardService,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { callTill, createTill, issueActive, issueStock, type StockCard, type TestTill } from "./till-calls.js";
import { basic, call, credentials, eventInput, onCard } from "./wire.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-tills-"));
const secretsFile = path.join(folder, "secrets.json");
let service: TestService;
let second: TestService;
let company: TestCompany;
let till: TestTill;
let db: pg.Client;

// Two processes share one database: a count that is kept in one process's memory would fail these tests.
beforeAll(async () => {
  const databaseUrl = await testDatabase();
  const args = ["--calls-per-minute", "0", "--company-calls-per-minute", "0"];
  service = await startGiftcardService({ databaseUrl, secretsFile, args });
  second = await startGiftcardService({ databaseUrl, secretsFile, args });
  company = await service.createCompany();
  till = await createTill(service, company);
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
});

afterAll(async () => {
  expect(await service.command("check")).toMatchObject({ ok: true, faults: [] });
  await db.end();
  await service.stop();
  await second.stop();
  fs.rmSync(folder, { recursive: true });
});

const activate = (card: StockCard, amount?: number, { apikey }: TestTill = till, key?: string | null) =>
  callTill(service.url, "activate", { apikey, cardnumber: card.cardnumber, amount }, { key });
const topUp = (card: StockCard, amount: number, { apikey }: TestTill = till, key?: string | null) =>
  callTill(service.url, "top-up", { apikey, cardnumber: card.cardnumber, amount }, { key });
const balanceOf = async ({ card }: StockCard): Promise<number> =>
  (await db.query("select balance_cents::int as cents from cards where id = $1", [card])).rows[0].cents;
const kindsOf = async ({ card }: StockCard): Promise<string[]> =>
  (await db.query("select kind from ledger where card_id = $1 order by id", [card])).rows.map(({ kind }) => kind);
/** Unlocks all card numbers. */
const forgetGuesses = () => db.query("delete from failed_attempts");

describe("a till", () => {
  test("activates a card with the amount that it was issued for, and names its key in the audit log", async () => {
    const named = await createTill(service, company, "--label", "Till 3");
    const card = await issueStock(service, 2500);
    const answer = await activate(card, undefined, named);
    expect([answer.status, answer.body]).toEqual([200, { success: true, amount_loaded: 2500 }]);
    const { body } = await call(service.url, "balance", {
      ...credentials(company),
      cardnumber: card.cardnumber,
      pin: card.pin,
    });
    expect(body).toMatchObject({ balance: 2500, card_status: "Active" });
    const entries = (await service.command("audit", "--card", String(card.card))) as object[];
    expect(entries.at(-1)).toMatchObject({
      operator: `key ${named.key_id} Till 3`,
      os_user: "till",
      action: "card activate",
      card: card.card,
      company_id: company.companyId,
      details: { key: named.key_id, balance: 2500, issued_for: 2500 },
    });
    const history = (await service.command("card", "show", "--card", String(card.card), "--history")) as {
      history: object[];
    };
    expect(history.history).toMatchObject([{ kind: "issue", amount: 2500, company_id: company.companyId }]);
  });

  test("activates a card that was issued without an amount only with one, and another card with no other amount", async () => {
    const [open, fixed] = [await issueStock(service, 0), await issueStock(service, 2500)];
    const refusals = [await activate(open), await activate(fixed, 5000), await activate(fixed, 2499)];
    for (const { status, body } of refusals)
      expect([status, body]).toEqual([
        422,
        { success: false, error: expect.any(String), errors: [{ path: "amount", message: expect.any(String) }] },
      ]);
    expect([await kindsOf(open), await kindsOf(fixed)]).toEqual([[], []]);
    expect((await activate(open, 4200)).body.amount_loaded).toBe(4200);
    expect((await activate(fixed, 2500)).body.amount_loaded).toBe(2500);
    expect([await balanceOf(open), await balanceOf(fixed)]).toEqual([4200, 2500]);
  });

  test("tops up an active card, also an empty one", async () => {
    const [card, empty] = [await issueActive(service, 700), await issueActive(service, 0)];
    expect((await topUp(card, 300)).body).toEqual({ success: true, amount_loaded: 300 });
    expect((await topUp(empty, 5000)).status).toBe(200);
    expect([await balanceOf(card), await balanceOf(empty)]).toEqual([1000, 5000]);
    expect(await kindsOf(card)).toEqual(["issue", "top_up"]);
    const entries = (await service.command("audit", "--card", String(card.card))) as object[];
    expect(entries.at(-1)).toMatchObject({ action: "card top-up", details: { key: till.key_id, by: 300 } });
  });

  test.each([[0], [-1], [1.5], ["x"], [null], [100_000_001]])("is refused the amount %s", async (amount) => {
    const card = await issueActive(service, 100);
    const body = { apikey: till.apikey, cardnumber: card.cardnumber, amount };
    expect((await callTill(service.url, "top-up", body)).status).toBe(422);
    expect((await callTill(service.url, "activate", body)).status).toBe(422);
    expect(await balanceOf(card)).toBe(100);
  });
});

describe("keys", () => {
  test("a till's key is refused by every operation of the interface", async () => {
    const card = await issueActive(service, 1000);
    const asTill = { ...company, apiKey: till.apikey };
    const wire = { cardNumber: card.cardnumber, pin: card.pin, expiryDate: "" };
    const { cancel_token } = (await call(service.url, "devalue", { ...onCard(company, wire), amount: 100 })).body;
    const apikey = till.apikey;
    const answers = [
      await call(service.url, "balance", onCard(asTill, wire)),
      await call(service.url, "devalue", { ...onCard(asTill, wire), amount: 100 }),
      await call(service.url, "cancelDevalue", { ...credentials(asTill), cancel_token }),
      await call(service.url, "cancelDevalue", credentials(asTill), { headers: { "Idempotency-Key": randomUUID() } }),
      await call(service.url, "listEvents", { apikey }),
      await call(service.url, "listEventConcepts", { apikey }),
      await call(service.url, "createEventConcept", {
        apikey,
        representative: "R",
        register: "R",
        eventprovider_id: 1,
      }),
      await call(service.url, "createEvents", { apikey, events: [eventInput(1)] }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    expect(await balanceOf(card)).toBe(900);
  });

  test("the keys of shops and logins can't activate or top up", async () => {
    const [stock, card] = [await issueStock(service, 2500), await issueActive(service, 100)];
    const login = await call(service.url, "authenticate", {}, { headers: basic(company.email, company.password) });
    for (const apikey of [company.apiKey, login.body.apikey, "unknown"]) {
      expect((await activate(stock, undefined, { ...till, apikey })).status).toBe(401);
      expect((await topUp(card, 100, { ...till, apikey })).status).toBe(401);
    }
    expect([await balanceOf(stock), await balanceOf(card)]).toEqual([0, 100]);
  });

  test("a revoked or expired key, and a suspended or closed company, put no money on cards", async () => {
    const other = await service.createCompany();
    const [kept, revoked, expired] = [
      await createTill(service, other),
      await createTill(service, other),
      await createTill(service, other, "--expires", "2020-01-01"),
    ];
    const card = await issueActive(service, 100);
    const id = String(other.companyId);
    // The service remembers the key from now on.
    expect((await topUp(card, 1, kept)).status).toBe(200);
    expect((await topUp(card, 1, revoked)).status).toBe(200);
    await service.command("key", "revoke", String(revoked.key_id));
    expect((await topUp(card, 1, revoked)).status).toBe(401);
    expect((await topUp(card, 1, expired)).status).toBe(401);
    await service.command("company", "suspend", id);
    expect((await topUp(card, 1, kept)).status).toBe(401);
    await service.command("company", "resume", id);
    expect((await topUp(card, 1, kept)).status).toBe(200);
    await service.command("company", "close", id);
    expect((await topUp(card, 1, kept)).status).toBe(401);
    expect(await balanceOf(card)).toBe(103);
  });

  test("a key that is revoked, or whose company is suspended, while its calls wait for a card puts no money on it", async () => {
    const card = await issueActive(service, 100);
    const waiting = async () =>
      (
        await db.query(
          "select count(*)::int as n from pg_locks where locktype in ('tuple', 'transactionid') and not granted",
        )
      ).rows[0].n;
    for (const [group, name] of [
      ["key", "revoke"],
      ["company", "suspend"],
    ] as const) {
      const other = await service.createCompany();
      const its = await createTill(service, other);
      const holder = new pg.Client({ connectionString: service.databaseUrl });
      await holder.connect();
      await holder.query(`begin; select from cards where id = ${card.card} for update`);
      const answer = topUp(card, 50, its);
      await expect.poll(waiting).toBeGreaterThan(0);
      await service.command(group, name, String(group === "key" ? its.key_id : other.companyId));
      await holder.query("commit");
      await holder.end();
      expect([name, (await answer).status]).toEqual([name, 401]);
    }
    expect(await balanceOf(card)).toBe(100);
  });

  test("`key list` shows scope and limits, which a shop's key can't have", async () => {
    const other = await service.createCompany();
    const made = await createTill(service, other, "--per-day", "70000", "--per-card", "9000");
    const keys = await service.command("key", "list", "--company", String(other.companyId));
    expect(keys).toEqual([
      expect.objectContaining({ scope: "shop" }),
      expect.objectContaining({ key_id: made.key_id, scope: "till", per_day: 70_000, per_card: 9000 }),
    ]);
    expect((keys as object[])[0]).not.toHaveProperty("per_day");
    const wrong = service.command("key", "create", "--company", String(other.companyId), "--per-day", "1");
    await expect(wrong).rejects.toThrow(/ended with 2: .*--scope till/);
  });
});

describe("cards that can't be loaded", () => {
  test("get the same answer as an unknown number", async () => {
    const [active, blocked, expired, reissued, stock] = [
      await issueActive(service, 100),
      await issueActive(service, 100),
      await issueActive(service, 100, "--expires", "2020-01-01"),
      await issueActive(service, 100),
      await issueStock(service, 2500),
    ];
    const [blockedStock, expiredStock] = [
      await issueStock(service, 2500),
      await issueStock(service, 2500, "--expires", "2020-01-01"),
    ];
    for (const { cardnumber } of [blocked, blockedStock]) await service.command("card", "block", cardnumber);
    await service.command("card", "reissue", reissued.cardnumber);
    const unknown = { ...active, cardnumber: "9528111122223333444" };
    const { text: unknownText, status } = await activate(unknown);
    expect([status, JSON.parse(unknownText)]).toEqual([400, { success: false, error: expect.any(String) }]);
    for (const card of [active, blocked, expired, reissued, blockedStock, expiredStock])
      expect((await activate(card)).text).toBe(unknownText);
    for (const card of [unknown, blocked, expired, reissued, stock, blockedStock, expiredStock])
      expect((await topUp(card, 100)).text).toBe(unknownText);
    expect(await kindsOf(active)).toEqual(["issue"]);
    for (const card of [stock, blockedStock, expiredStock]) expect(await kindsOf(card)).toEqual([]);
  });

  test("count as wrong guesses, which lock the number for tills and shops", async () => {
    const card = await issueActive(service, 100);
    for (let guess = 0; guess < 10; guess++) expect((await activate(card)).status).toBe(400);
    const locked = await topUp(card, 100);
    expect([locked.status, Number(locked.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
    const wire = { cardNumber: card.cardnumber, pin: card.pin, expiryDate: "" };
    expect((await call(second.url, "balance", onCard(company, wire))).status).toBe(429);
    await service.command("card", "unlock", card.cardnumber);
    expect((await topUp(card, 100)).status).toBe(200);
  });

  test("count for the company, which must then wait, with its tills and its shop", async () => {
    const guesser = await service.createCompany();
    const [its, card] = [await createTill(service, guesser), await issueActive(service, 100)];
    const limited = await spawnServe(["--company-pin-failures", "5"], env());
    try {
      const ask = (index: number) => {
        const cardnumber = `95280000000000${String(index).padStart(5, "0")}`;
        return callTill(limited.url, "activate", { apikey: its.apikey, cardnumber });
      };
      for (let guess = 0; guess < 5; guess++) expect((await ask(guess)).status).toBe(400);
      expect((await ask(5)).status).toBe(429);
      const body = { apikey: its.apikey, cardnumber: card.cardnumber, amount: 1 };
      expect((await callTill(limited.url, "top-up", body)).status).toBe(429);
      const wire = { cardNumber: card.cardnumber, pin: card.pin, expiryDate: "" };
      expect((await call(limited.url, "balance", onCard(guesser, wire))).status).toBe(429);
    } finally {
      await stop(limited);
      await forgetGuesses();
    }
  });
});

const env = () => ({ GIFTCARD_DATABASE_URL: service.databaseUrl, GIFTCARD_SECRETS_FILE: secretsFile });
const stop = (server: ServeProcess) => server.stop();

describe("an Idempotency-Key", () => {
  test("is required", async () => {
    const [stock, card] = [await issueStock(service, 2500), await issueActive(service, 100)];
    expect((await activate(stock, undefined, till, null)).status).toBe(422);
    expect((await topUp(card, 100, till, null)).status).toBe(422);
    expect([await balanceOf(stock), await balanceOf(card)]).toEqual([0, 100]);
  });

  test("makes a repetition return the first answer, without more money", async () => {
    const [stock, card] = [await issueStock(service, 2500), await issueActive(service, 100)];
    const [first, then] = [randomUUID(), randomUUID()];
    for (const [index, call] of [
      () => activate(stock, undefined, till, first),
      () => activate(stock, undefined, till, first),
      () => topUp(card, 300, till, then),
      () => topUp(card, 300, till, then),
    ].entries()) {
      const answer = await call();
      expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([200, index % 2 ? "true" : null]);
      expect(answer.body.amount_loaded).toBe(index < 2 ? 2500 : 300);
    }
    expect([await balanceOf(stock), await balanceOf(card)]).toEqual([2500, 400]);
  });

  test("is refused with another card, amount or operation, and after a day", async () => {
    const [stock, card, other] = [
      await issueStock(service, 0),
      await issueActive(service, 100),
      await issueActive(service, 100),
    ];
    const key = randomUUID();
    expect((await topUp(card, 300, till, key)).status).toBe(200);
    for (const answer of [
      await topUp(card, 301, till, key),
      await topUp(other, 300, till, key),
      await activate(stock, 300, till, key),
    ])
      expect(answer.status).toBe(422);
    await db.query("update idempotency_keys set created_at = now() - interval '25 hours' where operation = 'load'");
    expect((await topUp(card, 300, till, key)).status).toBe(422);
    expect([await balanceOf(card), await balanceOf(other), await balanceOf(stock)]).toEqual([400, 100, 0]);
  });

  test("does not meet the same key of a devalue or of another company", async () => {
    const [card, key] = [await issueActive(service, 1000), randomUUID()];
    const wire = { cardNumber: card.cardnumber, pin: card.pin, expiryDate: "" };
    const headers = { "Idempotency-Key": key };
    expect((await call(service.url, "devalue", { ...onCard(company, wire), amount: 100 }, { headers })).status).toBe(
      200,
    );
    expect((await topUp(card, 200, till, key)).status).toBe(200);
    const foreign = await createTill(service, await service.createCompany());
    expect((await topUp(card, 30, foreign, key)).status).toBe(200);
    const { body } = await call(service.url, "cancelDevalue", credentials(company), { headers });
    expect([body.amount_refunded, await balanceOf(card)]).toEqual([100, 1230]);
  });

  test("moves money once if many calls carry it at once, in two processes", async () => {
    const [stock, card] = [await issueStock(service, 2500), await issueActive(service, 0)];
    const [first, then] = [randomUUID(), randomUUID()];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const { url } = index % 2 ? service : second;
        const body = { apikey: till.apikey, cardnumber: stock.cardnumber };
        const onActive = { apikey: till.apikey, cardnumber: card.cardnumber, amount: 150 };
        return Promise.all([
          callTill(url, "activate", body, { key: first }),
          callTill(url, "top-up", onActive, { key: then }),
        ]);
      }),
    );
    for (const side of [0, 1] as const) {
      const replayed = answers.filter((pair) => pair[side].headers.get("idempotency-replayed") === "true");
      expect([answers.map((pair) => pair[side].status), replayed.length]).toEqual([answers.map(() => 200), 19]);
    }
    expect([await balanceOf(stock), await balanceOf(card)]).toEqual([2500, 150]);
  });
});

describe("limits", () => {
  test("a card can't get more than the key's amount per card", async () => {
    const small = await createTill(service, company, "--per-card", "3000");
    const [card, stock, open] = [
      await issueActive(service, 1000),
      await issueStock(service, 3001),
      await issueStock(service, 0),
    ];
    for (const answer of [
      await topUp(card, 2001, small),
      await activate(stock, undefined, small),
      await activate(open, 3001, small),
    ])
      expect([answer.status, answer.body.errors]).toEqual([
        422,
        [{ path: "amount", message: "would raise the card's balance above 30.00" }],
      ]);
    expect((await topUp(card, 2000, small)).status).toBe(200);
    expect((await activate(open, 3000, small)).status).toBe(200);
    expect([await balanceOf(card), await balanceOf(stock), await balanceOf(open)]).toEqual([3000, 0, 3000]);
  });

  test("a key's amount per day is exact if many connections reach it at once, and is free again on the next day", async () => {
    const small = await createTill(service, company, "--per-day", "1050");
    const cards = await Promise.all(Array.from({ length: 8 }, () => issueActive(service, 0)));
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        callTill(index % 2 ? service.url : second.url, "top-up", {
          apikey: small.apikey,
          cardnumber: cards[index % 8]?.cardnumber,
          amount: 100,
        }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([10, 30]);
    for (const { headers } of refused) {
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(25 * 3600);
    }
    const [card] = cards as [StockCard];
    expect((await topUp(card, 50, small)).status).toBe(200);
    expect((await topUp(card, 1, small)).status).toBe(429);
    const ids = cards.map(({ card }) => card);
    const { rows } = await db.query("select sum(balance_cents)::int as cents from cards where id = any($1)", [ids]);
    expect(rows[0].cents).toBe(1050);
    await db.query("update key_loads set day = day - 1 where key_id = $1", [small.key_id]);
    expect((await topUp(card, 1050, small)).status).toBe(200);
    expect(await service.metrics()).toMatch(/giftcard_limited_total\{limit="key_loads"\} [1-9]/);
  });

  test("a key without enough left for the day gets the same answer for every card, so it learns no balance", async () => {
    const small = await createTill(service, company, "--per-day", "100");
    const [full, empty, blocked] = [
      await issueActive(service, 14_900),
      await issueActive(service, 0),
      await issueActive(service, 100),
    ];
    const stock = await issueStock(service, 0);
    await service.command("card", "block", blocked.cardnumber);
    const unknown = { ...full, cardnumber: "9528111122223333555" };
    const cards = [full, empty, blocked, stock, unknown];
    const answersTo = async (amount: number) => {
      const answers = await Promise.all(cards.map((card) => topUp(card, amount, small)));
      return new Set(answers.map(({ status, text }) => `${status} ${text}`));
    };
    const [answer] = await answersTo(101);
    expect(answer).toMatch(/^429 .*amount per day/);
    expect(await answersTo(101)).toEqual(new Set([answer]));
    expect((await topUp(empty, 100, small)).status).toBe(200);
    expect(await answersTo(1)).toEqual(new Set([answer]));
    for (const card of cards) expect((await activate(card, undefined, small)).status).toBe(429);
    expect((await topUp(full, 100)).status).toBe(200);
  });

  test("a till's calls count for the limit of its key", async () => {
    const limited = await spawnServe(["--calls-per-minute", "5"], env());
    try {
      const [its, card] = [await createTill(service, company), await issueActive(service, 0)];
      const body = { apikey: its.apikey, cardnumber: card.cardnumber, amount: 1 };
      const answers = await Promise.all(Array.from({ length: 10 }, () => callTill(limited.url, "top-up", body)));
      const done = answers.filter(({ status }) => status === 200).length;
      expect([done, answers.filter(({ status }) => status === 429).length]).toEqual([5, 5]);
      expect(await balanceOf(card)).toBe(5);
    } finally {
      await stop(limited);
    }
  });
});

test("secrets reach neither the log nor the database, and the metrics count the money", async () => {
  const [card, key] = [await issueStock(service, 1234), "sentinel-load-key"];
  await activate(card, undefined, till, key);
  const { rows } = await db.query(
    "select (select string_agg(a::text, '') from audit_log a) || (select string_agg(k::text, '') from api_keys k) " +
      "|| (select string_agg(i::text, '') from idempotency_keys i) as text",
  );
  for (const secret of [till.apikey, card.cardnumber, key]) {
    expect(service.logs()).not.toContain(secret);
    expect(rows[0].text).not.toContain(secret);
  }
  expect(service.logs()).toMatch(/"operation":"activate","status":200,"outcome":"done".*"keyId":\d+/);
  expect(await service.metrics()).toMatch(/giftcard_money_cents_total\{operation="activate"\} \d{4,}/);
});

test("loads and their repetitions work after the secrets were rotated, for old and new cards", async () => {
  const [stock, card, key] = [await issueStock(service, 2500), await issueActive(service, 100), randomUUID()];
  expect((await topUp(card, 300, till, key)).status).toBe(200);
  await service.command("secrets", "rotate");
  const fresh = await issueStock(service, 700);
  for (const { url } of [service, second]) {
    const body = { apikey: till.apikey, cardnumber: card.cardnumber, amount: 300 };
    const again = await callTill(url, "top-up", body, { key });
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  }
  expect([(await activate(stock)).status, (await activate(fresh)).status]).toEqual([200, 200]);
  expect([await balanceOf(card), await balanceOf(stock), await balanceOf(fresh)]).toEqual([400, 2500, 700]);
});
